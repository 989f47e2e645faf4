"""Keeps a seat to a few connections and a room to some watchers, however many processes show it."""

from typing import Final

from scopa_protocol import events as told
from scopa_protocol.codes import CloseCode, ErrorCode
from scopa_server.allowance import Allowance
from scopa_server.metrics import Limit
from scopa_server.room.refused import Refused

from .answers import too_fast
from .audience import Audience
from .crowds import WATCHERS
from .gossip import Gossip
from .surroundings import Surroundings
from .visitor import Visitor

REPLACED_AT_ONCE: Final = 10
REPLACED_SECONDS: Final = 10.0
"""How often a connection may take the place of an older one of its seat, after so many at once."""
_HERE: Final = ""
_FULL: Final = "As many watch this room as may; try again later."


class Bouncer:
    """Who is one too many at a room. Only the room's task uses it."""

    def __init__(self, audience: Audience, gossip: Gossip, around: Surroundings) -> None:
        self._audience = audience
        self._gossip = gossip
        self._around = around
        self._paces: dict[str, Allowance] = {}
        self._replaced: dict[str, dict[str, int]] = {_HERE: {}}
        """By process how many connections of each seat are known to have made way."""

    def make_way(self, token: str) -> None:
        """See that a seat's connections don't replace each other without end.

        Raises Refused: too_fast.
        """
        self._count_replaced()
        crowd = self._gossip.crowd(self._audience, token)
        pace = self._paces.get(token)
        seconds = pace.wait(self._around.time.now()) if pace is not None and crowd.is_full else 0
        if seconds or len(crowd.here) >= crowd.takes:
            self._around.metrics.limited(Limit.SEAT_CONNECTIONS)
        if seconds:
            raise too_fast("This seat is open on too many connections; close one.", seconds)

    def check_watchers(self) -> None:
        """See that one more may watch. Raises Refused: room_full."""
        if self._gossip.crowd(self._audience, WATCHERS).is_full:
            self._around.metrics.limited(Limit.WATCHERS)
            raise Refused(ErrorCode.ROOM_FULL, _FULL)

    def thin_out(self) -> list[told.RoomEvent]:
        """Close who is one too many, now that others have said who is there; what is to be told.

        Of a seat's connections the oldest go, of watchers the newest.
        """
        left: list[told.RoomEvent] = []
        for group in {visitor.token or WATCHERS for visitor in self._audience}:
            crowd = self._gossip.crowd(self._audience, group)
            if not crowd.is_too_big:
                continue
            surplus = crowd.surplus(oldest=group != WATCHERS)
            gone = [visitor for visitor in self._audience if visitor.number in surplus]
            if group == WATCHERS:
                left += map(self._turn_away, gone)
            else:
                self._replace(gone)
        self._count_replaced()
        return left

    def _turn_away(self, watcher: Visitor) -> told.RoomEvent:
        self._around.metrics.limited(Limit.WATCHERS)
        self._audience.send_off(watcher, CloseCode.REFUSED, ErrorCode.ROOM_FULL.value, _FULL)
        return told.WatcherLeft(name=watcher.name)

    def _replace(self, gone: list[Visitor]) -> None:
        for visitor in gone:
            self._around.metrics.limited(Limit.SEAT_CONNECTIONS)
            self._audience.replace(visitor)

    def _count_replaced(self) -> None:
        """Count who made way since the last look, here and elsewhere."""
        now = self._around.time.now()
        known = {**self._gossip.replaced, _HERE: self._audience.replaced}
        for process, replaced in known.items():
            # What a process did before it was heard of is long past.
            before = self._replaced.get(process, replaced)
            for token, count in replaced.items():
                pace = self._paces.setdefault(token, Allowance(REPLACED_AT_ONCE, REPLACED_SECONDS))
                for _ in range(min(count - before.get(token, 0), REPLACED_AT_ONCE)):
                    pace.take(now)
        self._replaced = {process: dict(replaced) for process, replaced in known.items()}
        self._paces = {of: pace for of, pace in self._paces.items() if not pace.is_whole(now)}

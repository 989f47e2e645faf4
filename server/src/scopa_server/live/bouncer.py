"""Keeps a seat to a few connections and a room to some watchers, however many processes show it."""

from typing import Final

from scopa_protocol import events as told
from scopa_protocol.codes import CloseCode, ErrorCode
from scopa_server.allowance import Allowance
from scopa_server.metrics import Limit
from scopa_server.room.refused import Refused

from .answers import too_fast
from .audience import Audience
from .crowds import WATCHERS, Mark
from .gossip import Gossip
from .surroundings import Surroundings
from .visitor import Visitor

REPLACED_AT_ONCE: Final = 10
REPLACED_SECONDS: Final = 10.0
"""How often a connection may take the place of an older one of its seat, after so many at once."""
_FULL: Final = "As many watch this room as may; try again later."


class Bouncer:
    """Who is one too many at a room. Only the room's task uses it."""

    def __init__(self, audience: Audience, gossip: Gossip, around: Surroundings) -> None:
        self._audience = audience
        self._gossip = gossip
        self._around = around
        self._paces: dict[str, Allowance] = {}
        self._newest: dict[str, Mark] = {}

    def make_way(self, token: str) -> None:
        """See that a seat's connections don't replace each other without end.

        Raises Refused: too_fast.
        """
        crowd = self._gossip.crowd(self._audience, token)
        if not crowd.is_full:
            return
        seconds = self._take(token)
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
                self._see_newest(group, crowd.newest, crowd.process)
                self._replace(gone)
        return left

    def _turn_away(self, watcher: Visitor) -> told.RoomEvent:
        self._around.metrics.limited(Limit.WATCHERS)
        self._audience.send_off(watcher, CloseCode.REFUSED, ErrorCode.ROOM_FULL.value, _FULL)
        return told.WatcherLeft(name=watcher.name)

    def _replace(self, gone: list[Visitor]) -> None:
        for visitor in gone:
            self._around.metrics.limited(Limit.SEAT_CONNECTIONS)
            self._audience.replace(visitor)

    def _see_newest(self, token: str, newest: Mark, here: str) -> None:
        """Count who came through another process towards the same pace."""
        if newest[1] != here and newest > self._newest.get(token, (0, "")):
            self._take(token)
            self._newest[token] = newest

    def _take(self, token: str) -> float:
        pace = self._paces.setdefault(token, Allowance(REPLACED_AT_ONCE, REPLACED_SECONDS))
        return pace.take(self._around.time.now())

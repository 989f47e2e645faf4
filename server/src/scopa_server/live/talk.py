"""How much one person may say: a person is a seat's token, a watcher an address."""

from collections.abc import Iterable
from typing import Final

from scopa_protocol.events import RoomEvent, Said
from scopa_server.allowance import Allowance
from scopa_server.metrics import Limit
from scopa_server.room.state import Room

from .answers import too_fast
from .surroundings import Surroundings
from .visitor import Visitor

MINUTE: Final = 60.0
KEPT: Final = 100
"""People that a room remembers, but for those who still owe something."""


class Talk:
    """What people at one table have said of late. Only the room's task uses it."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._people: dict[str, Allowance] = {}

    def check(self, visitor: Visitor) -> None:
        """See that this person may say something more. Raises Refused: too_fast."""
        seconds = self._of(visitor).wait(self._around.time.now())
        if seconds:
            self._around.metrics.limited(Limit.TALK)
            raise too_fast("You say too much at once; wait a little.", seconds)

    def count(self, visitor: Visitor) -> None:
        """Something new was said."""
        self._of(visitor).take(self._around.time.now())

    def overhear(self, room: Room, events: Iterable[RoomEvent]) -> None:
        """Count what people on seats have said through other processes.

        They are known by name: since then they may have moved, or their seat may be gone.
        """
        said = [event for event in events if isinstance(event, Said) and event.seat is not None]
        holders = (seat.holder for seat in room.seats) if said else ()
        tokens = {holder.name: holder.token for holder in holders if holder is not None}
        for event in said:
            if event.name in tokens:
                self._allowance(tokens[event.name]).take(self._around.time.now())

    def _of(self, visitor: Visitor) -> Allowance:
        return self._allowance(visitor.token or f"watching from {visitor.address}")

    def _allowance(self, who: str) -> Allowance:
        if who not in self._people:
            if len(self._people) >= KEPT:
                now = self._around.time.now()
                owing = {who: said for who, said in self._people.items() if not said.is_whole(now)}
                self._people = owing
            most = self._around.bounds.max_talk_per_minute
            self._people[who] = Allowance(most, MINUTE / most)
        return self._people[who]

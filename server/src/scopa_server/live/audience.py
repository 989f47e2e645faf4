"""Who is connected to a live room, and what each of them is sent."""

from collections.abc import Iterator
from typing import Final

from scopa_protocol.codes import CloseCode
from scopa_protocol.events import RoomEvent
from scopa_protocol.settings import Settings
from scopa_server.room.project import Scene
from scopa_server.room.state import Room, Seat

from .showing import Showing, Update, Written
from .visitor import Visitor

SEATS_KEPT: Final = 20
"""Seats of which the room remembers how many connections were replaced."""


class Audience:
    """The visitors of one room, in the order they came. `seat_takes`: connections of one seat."""

    def __init__(self, seat_takes: int) -> None:
        self._seat_takes = seat_takes
        self._visitors: dict[Visitor, None] = {}
        self.changes = 0
        """How often somebody came or went."""
        self.latest = 0
        """The highest number of a connection, here or elsewhere, that is known of."""
        self.replaced: dict[str, int] = {}
        """How many connections of a seat, by its token, had to make way."""
        self._seen: tuple[tuple[Seat, ...], Settings] | None = None
        """What of the room its visitors follow."""
        self.anyone = False
        """Whether there is a visitor."""
        self.online: frozenset[int] = frozenset()
        """Seats with a connection."""
        self.watchers: tuple[str, ...] = ()
        """Names of those who watch."""
        self._written: Written = {}

    def __iter__(self) -> Iterator[Visitor]:
        return iter(tuple(self._visitors))

    def __contains__(self, visitor: object) -> bool:
        return visitor in self._visitors

    def in_the_way(self, token: str) -> list[Visitor]:
        """The oldest connections of a seat, that must go for one more to come in."""
        same = [other for other in self._visitors if other.token == token]
        return same[: max(0, len(same) - self._seat_takes + 1)]

    def add(self, visitor: Visitor) -> None:
        """Let a visitor in; of too many on one seat the oldest goes."""
        for oldest in self.in_the_way(visitor.token) if visitor.token is not None else ():
            self.replace(oldest)
        self.latest = visitor.number = self.latest + 1
        self.changes += 1
        self._visitors[visitor] = None
        self._look()

    def remove(self, visitor: Visitor) -> None:
        """Take a visitor out, if it is in."""
        self._visitors.pop(visitor, None)
        self.changes += 1
        visitor.seat = None
        self._look()

    def replace(self, visitor: Visitor) -> None:
        """Send off one of too many connections of a seat."""
        token = visitor.token or ""
        self.replaced[token] = self.replaced.pop(token, 0) + 1
        if len(self.replaced) > SEATS_KEPT:
            del self.replaced[next(iter(self.replaced))]
        self.send_off(
            visitor,
            CloseCode.REPLACED,
            "replaced",
            f"Your seat is open on too many connections; the newest {self._seat_takes} stay.",
        )

    def send_off(self, visitor: Visitor, code: CloseCode, reason: str, message: str) -> None:
        """Take a visitor out and close its connection, for good."""
        self.remove(visitor)
        visitor.outbox.close(code, reason, message)

    def _look(self) -> None:
        """Other people are here, or elsewhere."""
        self._seen = None
        self.anyone = bool(self._visitors)
        self.online = frozenset(v.seat for v in self._visitors if v.seat is not None)
        self.watchers = tuple(visitor.name for visitor in self._visitors if visitor.watches)

    def move(self, room: Room) -> None:
        """Follow the room: people are on the seats that their tokens hold."""
        # Most commits leave the seats as they are.
        if self._seen is not None and self._seen[0] is room.seats:
            return
        for visitor in self._visitors:
            if visitor.token is not None:
                visitor.seat = room.seat_of(visitor.token)
        self._look()

    def reseat(self, room: Room) -> None:
        """Follow the room: people move with their seat, or go when they lost it."""
        seen = self._seen
        if seen is not None and seen[0] is room.seats and seen[1] is room.settings:
            return
        self.move(room)
        self._part(room)
        self._seen = room.seats, room.settings

    def _part(self, room: Room) -> None:
        for visitor in self:
            if visitor.token is not None:
                if visitor.seat is None:
                    self.send_off(
                        visitor, CloseCode.SEAT_LOST, "seat_lost", "You no longer have a seat here."
                    )
            elif room.settings.watchers == "none":
                self.send_off(
                    visitor, CloseCode.REFUSED, "watching_off", "This room is no longer watched."
                )

    def show(
        self,
        room: Room,
        scene: Scene,
        events: list[RoomEvent],
        *,
        answering: tuple[Visitor, int | None] | None = None,
        but: Visitor | None = None,
        only: Visitor | None = None,
    ) -> None:
        """Leave everybody the present view; `answering`: whose command this answers."""
        showing = Showing(room, scene, events, self._written)
        asking, number = (None, None) if answering is None else answering
        answer = None if number is None else [number]
        for visitor in self._visitors if only is None else (only,):
            if visitor is not but:
                re = answer if visitor is asking else None
                visitor.outbox.show(Update(showing, visitor.seat, re))

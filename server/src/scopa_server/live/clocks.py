"""When a live room must act by itself: clocks, people who went away, the server's turns.

Time runs only while somebody is there and nobody has paused; it goes on after a load from what
the log and the store know, and no clock runs out in the first seconds after one.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from scopa_protocol.views import Clock
from scopa_server.room.clock import (
    AWAY_AFTER_MS,
    FIRST_MS_AFTER_LOAD,
    Deadline,
    Decision,
    deadlines,
    decision,
    is_still,
    served_seat,
    stays_still,
)
from scopa_server.room.decide.internal import Expired, GoneAway
from scopa_server.room.state import Room, Seat

from .time import Time

ANSWER_SECONDS: Final = 1
"""How long those at a table have to tell a process that comes how far time has run."""


class ServerTurn(Struct, frozen=True):
    """The server is to act for a seat."""

    seat: int


Due: TypeAlias = Expired | GoneAway | ServerTurn


class _Agenda(Struct):
    """What is ahead of a room, and what decides that, beside who went when.

    `still`: nothing is, and no card changes that.
    """

    room: Room
    online: frozenset[int]
    hangs_on: tuple[object, ...]
    still: bool
    running: tuple[Deadline, ...]
    ahead: tuple[tuple[float, Due], ...]
    next_at: float | None


class Clocks:
    """The clocks of one live room. `shown`: the mark of when it was last shown, if known."""

    def __init__(self, time: Time, room: Room, shown: int | None) -> None:
        self._time = time
        self._loaded = time.now()
        # People need a moment to come back to a match; in a lobby nothing has begun.
        grace = FIRST_MS_AFTER_LOAD / 1000 if room.in_match else 0
        self._first = self._loaded + grace
        self._awaited = decision(room)
        self._used_ms = float(room.clock_used)
        if shown is not None and room.paused_by is None:
            self._used_ms += max(0, shown - room.clock_from)
        self._since: float | None = None
        self._gone = {
            seat.holder.token: self._loaded - _away_ms(seat, shown) / 1000
            for seat in room.seats
            if seat.holder is not None and seat.away and seat.away_at
        }
        self.rank = 0
        """Processes that come before this one: it waits as many seconds longer than the first."""
        self._anyone: bool = False
        self._noted: Room | None = None
        self._agenda: _Agenda | None = None

    def note(self, room: Room, *, anyone: bool) -> None:
        """Take the room's present state in: a new decision starts anew, a pause stops time."""
        if room is self._noted and anyone is self._anyone:
            return
        awaited = decision(room)
        if _starts_anew(self._awaited, awaited, room):
            self._used_ms, self._since = 0, None
        self._noted, self._awaited, self._anyone = room, awaited, anyone
        runs = anyone and room.paused_by is None
        if runs and self._since is None:
            self._since = self._time.now()
        elif not runs and self._since is not None:
            self._used_ms, self._since = self._elapsed_ms(), None

    def went(self, token: str) -> None:
        """A person's last connection is gone."""
        self._agenda = None
        self._gone[token] = self._time.now()

    def offline_ms(self, room: Room, online: frozenset[int]) -> dict[int, int]:
        """How long each seat's person has had no connection."""
        if len(online) == len(room.seats):
            return {}
        return {
            number: int((self._time.now() - self._gone_since(seat.held_by)) * 1000)
            for number, seat in enumerate(room.seats)
            if number not in online and seat.held_by is not None
        }

    def mark(self, room: Room) -> int:
        """How far the room's time has run, on the scale of the commits' times.

        It stands still while nobody is there: what a later load counts on from.
        """
        return room.clock_from - room.clock_used + self.used_ms(room)

    def used_ms(self, room: Room) -> int:
        """How long the present decision has been waited for."""
        known = room is self._noted or not _starts_anew(self._awaited, decision(room), room)
        return round(self._elapsed_ms()) if known else 0

    def come(self, room: Room) -> "Came":
        """How far time has run, for a process that has just come to others."""
        return Came(decision(room), self.mark(room), self._time.now())

    def add(self, ms: int) -> None:
        """Let more time have run for the present decision."""
        self._used_ms += ms

    def run(self, room: Room, online: frozenset[int]) -> bool:
        """Whether a clock runs or a person is missed."""
        return bool(self._agenda_of(room, online).running) or any(
            number not in online and seat.held_by is not None
            for number, seat in enumerate(room.seats)
        )

    def shown(self, room: Room, online: frozenset[int]) -> Clock | None:
        """The clock that a view shows: the first to run out."""
        running = self._agenda_of(room, online).running
        if not running:
            return None
        first = min(running, key=lambda clock: self._runs_out(room, clock))
        left = self._runs_out(room, first) - self._time.now()
        return Clock(kind=first.kind, left_ms=max(0, round(left * 1000)))

    def due(self, room: Room, online: frozenset[int]) -> Due | None:
        """What must be done now, if anything."""
        now = self._time.now()
        ahead = self._agenda_of(room, online).ahead
        return next((what for when, what in ahead if when <= now), None)

    def next_at(self, room: Room, online: frozenset[int]) -> float | None:
        """When something will be due."""
        return self._agenda_of(room, online).next_at

    def _agenda_of(self, room: Room, online: frozenset[int]) -> _Agenda:
        """What is to be done, and when. The moments are fixed, not counted from now: time goes
        on between two looks at it, and a deadline must not move along."""
        agenda = self._agenda
        if agenda is not None and agenda.online == online:
            if agenda.still and (agenda.room is room or stays_still(agenda.room, room)):
                agenda.room = room
                return agenda
            if agenda.room is room and agenda.hangs_on == self._hangs_on():
                return agenda
        running = deadlines(room, online)
        ahead = tuple(self._work_out(room, online, running)) if self._anyone else ()
        agenda = self._agenda = _Agenda(
            room=room,
            online=online,
            hangs_on=self._hangs_on(),
            still=is_still(room, online),
            running=running,
            ahead=ahead,
            next_at=min(when for when, _ in ahead) if ahead else None,
        )
        return agenda

    def _hangs_on(self) -> tuple[object, ...]:
        """What moves the moments of an agenda."""
        return self.rank, self._anyone, self._used_ms, self._since

    def _work_out(
        self, room: Room, online: frozenset[int], running: Sequence[Deadline]
    ) -> Iterator[tuple[float, Due]]:
        for clock in running:
            yield self._runs_out(room, clock) + self.rank, Expired(clock.kind, decision(room))
        for number, seat in enumerate(room.seats):
            if number in online or seat.away:
                continue
            token = seat.held_by
            if token is not None:
                gone = self._gone_since(token) + AWAY_AFTER_MS / 1000
                yield max(self._first, gone) + self.rank, GoneAway(token)
        served = served_seat(room)
        if served is not None:
            yield self._after(room.settings.pace_ms) + self.rank, ServerTurn(served)

    def _runs_out(self, room: Room, clock: Deadline) -> float:
        when = max(self._first, self._after(clock.total_ms))
        if clock.kind == "absent" and clock.seat is not None:
            gone = self._gone_since(room.seats[clock.seat].token or "")
            return max(when, gone + clock.total_ms / 1000)
        return when

    def _after(self, total_ms: int) -> float:
        """When so much time will have run since the decision came up."""
        since = self._time.now() if self._since is None else self._since
        return since + (total_ms - self._used_ms) / 1000

    def _elapsed_ms(self) -> float:
        running = 0 if self._since is None else self._time.now() - self._since
        return self._used_ms + running * 1000

    def _gone_since(self, token: str | None) -> float:
        return self._gone.get(token or "", self._loaded)


class Came(Struct, frozen=True):
    """How far time had run, as this process knew it, when it came to a table of others.

    They hear of it at once, and note how far it has run for them.
    """

    decision: Decision
    mark: int

    when: float

    def was_answered(self, now: float) -> bool:
        """Whether they have had the time to note it."""
        return now >= self.when + ANSWER_SECONDS

    def follow(self, clocks: Clocks, room: Room, noted: int) -> None:
        """Catch up with what they noted then, if it was further."""
        if decision(room) != self.decision:
            return
        # Where the store was long in telling, they may have noted it since: what has run here
        # meanwhile must not count twice.
        known = max(self.mark, clocks.mark(room) - ANSWER_SECONDS * 1000)
        clocks.add(max(0, noted - known))


def _away_ms(seat: Seat, shown: int | None) -> int:
    """How long a person had been gone when the room was last shown."""
    return AWAY_AFTER_MS + max(0, (shown or 0) - seat.away_at)


def _starts_anew(before: Decision, after: Decision, room: Room) -> bool:
    """Whether a clock begins at nothing, rather than going on after a pause."""
    if before.deal != after.deal or before.turn != after.turn:
        return True
    return before.since != after.since and room.clock_used == 0

"""What a room waits for, and for how long: pure, from the state and who is there."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from scopa_protocol.views import ClockKind

from .state import Room

FIRST_MS_AFTER_LOAD: Final = 10_000
"""No clock fires earlier than this after a room was loaded in a match."""
AWAY_AFTER_MS: Final = 5_000
"""How long a person has no connection before the log says so."""
PROPOSAL_MS: Final = 60_000
"""How long a proposal is open."""
HOST_AWAY_MS: Final = {False: 60_000, True: 300_000}
"""How long a host must be gone before its power may be claimed; True: in a match."""


class Decision(Struct, frozen=True):
    """Names the decision that is awaited, so that a late timer changes nothing.

    `since` tells a clock that was started anew, for who came back, from the one before.
    """

    deal: int
    turn: int
    since: int


class Deadline(Struct, frozen=True):
    """A clock that runs: `total_ms` after the decision came up (`turn`, `next_deal`, `proposal`),
    or after the seat's last connection went (`absent`)."""

    kind: ClockKind
    total_ms: int
    seat: int | None = None


def decision(room: Room) -> Decision:
    """The decision that is awaited now."""
    turn = room.deal.turn if room.deal is not None and room.phase == "playing" else 0
    return Decision(room.deal_number, turn, room.clock_from)


def restart_clock(room: Room, at: int) -> Room:
    """Something else is waited for from `at` on."""
    return replace(room, clock_from=at, clock_used=0)


def deadlines(room: Room, online: frozenset[int]) -> tuple[Deadline, ...]:
    """The clocks that run now; the first to run out counts."""
    if room.paused_by is not None:
        return ()
    if room.proposed is not None:
        # The next deal waits: its clock, often the shorter one, would leave no time to answer.
        return (Deadline("proposal", PROPOSAL_MS),)
    if room.phase == "deal_over":
        seconds = room.settings.next_deal_seconds
        return (Deadline("next_deal", seconds * 1000),) if seconds else ()
    seat = room.awaited
    if seat is None or room.seats[seat].served:
        return ()
    return _person_clocks(room, seat, seat in online)


def _person_clocks(room: Room, seat: int, online: bool) -> tuple[Deadline, ...]:
    settings = room.settings
    clocks: list[Deadline] = []
    if settings.turn_seconds:
        clocks.append(Deadline("turn", settings.turn_seconds * 1000, seat))
    if settings.absent_seconds and not online:
        clocks.append(Deadline("absent", settings.absent_seconds * 1000, seat))
    return tuple(clocks)


def is_still(room: Room, online: frozenset[int]) -> bool:
    """Whether nothing is ahead but a card, whoever is to play it: no clock runs, all are there."""
    return (
        room.phase == "playing"
        and not room.settings.turn_seconds
        and len(online) == len(room.seats)
        and room.proposed is None
        and not any(seat.served for seat in room.seats)
    )


def stays_still(before: Room, after: Room) -> bool:
    """Whether what `is_still` hangs on is as it was in a room that was still."""
    return (
        after.seats is before.seats
        and after.phase == "playing"
        and after.settings is before.settings
        and after.proposal is before.proposal
    )


def served_seat(room: Room) -> int | None:
    """The seat that the server acts for now."""
    seat = room.awaited
    if seat is None or room.paused_by is not None:
        return None
    return seat if room.seats[seat].served else None

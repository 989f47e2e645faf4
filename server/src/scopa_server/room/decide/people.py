"""Who is who in a room: names, seats, succession. Shared by the decisions about people."""

from collections.abc import Iterator

from scopa_protocol.text import clean_name
from scopa_server.room import events as e
from scopa_server.room.context import Context
from scopa_server.room.names import mixed, of_a_bot, taken
from scopa_server.room.state import Room, Seat

from . import said


def names(room: Room, context: Context, *, but: int | None = None) -> list[str]:
    """Every name in the room, of seats, reservations and watchers."""
    seated = [
        name
        for number, seat in enumerate(room.seats)
        if number != but
        for name in (seat.name, seat.reserved.name if seat.reserved else None)
        if name is not None
    ]
    return [*seated, *context.watchers]


def admitted(name: str, others: list[str]) -> str:
    """The name as it will be shown. Raises Refused: bad_name, name_taken."""
    cleaned = clean_name(name)
    if cleaned is None:
        raise said.bad_name()
    if taken(cleaned, others):
        raise said.name_taken()
    if of_a_bot(cleaned):
        raise said.name_of_a_bot()
    if mixed(cleaned):
        raise said.name_mixed()
    return cleaned


def seat_at(room: Room, number: int) -> Seat:
    """The seat of that number. Raises Refused: no_such_seat."""
    if not 0 <= number < len(room.seats):
        raise said.no_such_seat(room)
    return room.seats[number]


def in_order(room: Room, after: int) -> Iterator[int]:
    """The other seats in order of play, from the one after `after`."""
    count = len(room.seats)
    return ((after + step) % count for step in range(1, count))


def heir(room: Room, leaving: int, online: frozenset[int]) -> int | None:
    """Who gets the host's power when its holder leaves: the next person, those present first."""
    people = [seat for seat in in_order(room, leaving) if room.seats[seat].holder]
    present = [seat for seat in people if seat in online]
    seated = [seat for seat in people if room.seats[seat].kind == "person"]
    return next(iter([*present, *seated, *people]), None)


def departure(room: Room, number: int, context: Context) -> e.Events:
    """What follows when the person of a seat, or of its reservation, leaves it."""
    seat = room.seats[number]
    holder = seat.holder
    name = holder.name if holder else seat.name or ""
    reserved = seat.reserved is not None and holder is not None
    events: list[e.LogEvent] = [e.SeatLeft(seat=number, name=name, reserved=reserved)]
    if room.host == number and holder is not None:
        events.append(e.HostChanged(seat=heir(room, number, context.online)))
    if room.paused_by == number and holder is not None:
        events.append(e.Unpaused(seat=number))
    return tuple(events)

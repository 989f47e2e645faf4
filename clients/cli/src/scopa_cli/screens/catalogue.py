"""A list outside a table: the seats that this machine holds."""

from scopa_cli.lines import Line, Span, line
from scopa_cli.tokens import HeldSeat


def rooms(seats: list[HeldSeat]) -> list[Line]:
    """The seats that this machine holds, and how to come back to each."""
    if not seats:
        return [line("This machine holds no seats. scopa host opens a room.")]
    return [_held(seat) for seat in seats]


def _held(seat: HeldSeat) -> Line:
    if seat.room is None:
        return line(f"A room asked for at {seat.server}, without an answer yet: ", seat.name)
    where = "no answer yet" if seat.seat is None else f"seat {seat.seat}"
    again = seat.invite or seat.room
    return line(
        Span(seat.room, "bold"),
        f"  {where}, {seat.name}  at {seat.server}  ",
        f"scopa join {again}",
    )

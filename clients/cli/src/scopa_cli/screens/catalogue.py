"""A list outside a table: the seats that this machine holds."""

from scopa_cli.lines import Line, Span, line
from scopa_cli.tokens import HeldSeat, comes_back_with


def rooms(seats: list[HeldSeat]) -> list[Line]:
    """The seats that this machine holds, and how to come back to each."""
    if not seats:
        return [line("This machine holds no seats. scopa host opens a room.")]
    return [_held(seat, comes_back_with(seat, seats)) for seat in seats]


def _held(seat: HeldSeat, again: str) -> Line:
    if seat.room is None:
        return line(f"A room asked for at {seat.server}, without an answer yet: ", seat.name)
    where = "no answer yet" if seat.seat is None else f"seat {seat.seat}"
    return line(
        Span(seat.room, "bold"),
        f"  {where}, {seat.name}  at {seat.server}  ",
        again,
    )

"""Who is who at a table: seats and sides by name, and verbs that agree with them."""

from msgspec import structs

from scopa_cli.lines import Line, Span, line
from scopa_protocol.views import SeatView, View


def by_holder(view: View) -> View:
    """The table by those whom the seats belong to: who has one reserved, not who plays it yet."""
    if not any(seat.reserved for seat in view.seats):
        return view
    return structs.replace(view, seats=[_held(seat) for seat in view.seats])


def _held(seat: SeatView) -> SeatView:
    if not seat.reserved:
        return seat
    return structs.replace(seat, name=seat.reserved, kind="person", reserved=None)


def my_cards(view: View) -> int | None:
    """The seat that the viewer plays; None for a watcher, and for who waits for the next deal."""
    mine = (seat.seat for seat in view.seats if seat.seat == view.you and not seat.reserved)
    return next(mine, None)


def seat_name(view: View, seat: int) -> str:
    """The name on a seat, or the seat's number."""
    person = view.seats[seat].name if 0 <= seat < len(view.seats) else None
    if person is not None and person.casefold() == "you":
        # Nobody else's doings are told as one's own.
        return f"{person} (seat {seat})"
    return person or f"seat {seat}"


def who(view: View, seat: int) -> Span:
    """A seat as the beginning of a sentence: `You`, or its name."""
    return Span("You", "mine") if seat == my_cards(view) else Span(seat_name(view, seat), "bold")


def whom(view: View, seat: int) -> str:
    """A seat in the middle of a sentence."""
    return "you" if seat == my_cards(view) else seat_name(view, seat)


def does(view: View, seat: int, verb: str, verbs: str) -> Line:
    """`You play` or `Anna plays`."""
    return line(who(view, seat), f" {verb if seat == my_cards(view) else verbs}")


def members(view: View, side: int) -> list[SeatView]:
    """The seats of a side, in order of play."""
    return [seat for seat in view.seats if seat.side == side]


def my_side(view: View) -> int | None:
    """The side that the viewer plays for; None for who has no cards."""
    return next((seat.side for seat in view.seats if seat.seat == my_cards(view)), None)


def side_name(view: View, side: int) -> str:
    """A side by its people: `You & Carla`."""
    names = [
        "You" if seat.seat == my_cards(view) else seat_name(view, seat.seat)
        for seat in members(view, side)
    ]
    names.sort(key=lambda name: name != "You")
    return " & ".join(names) or f"side {side}"


def side_does(view: View, side: int, verb: str, verbs: str) -> Line:
    """A side with a verb: plural for a pair and for you."""
    plural = len(members(view, side)) > 1 or side == my_side(view)
    return line(Span(side_name(view, side), "bold"), f" {verb if plural else verbs}")


def listed(names: list[str]) -> str:
    """Names as a sentence lists them."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def seats_listed(view: View, seats: list[int]) -> str:
    """Seats as a sentence lists them."""
    return listed([whom(view, seat) for seat in seats])

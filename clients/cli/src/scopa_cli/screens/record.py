"""A finished deal: its whole story in sentences, or one step of it with every hand open."""

from msgspec import structs

from scopa_cli.lines import Line, Span, line
from scopa_cli.replaying import Step
from scopa_protocol import events as happened
from scopa_protocol.views import View

from .count import count, piles
from .faces import faces
from .lobby import variant
from .narration import tell
from .people import seat_name
from .table import table


def story(steps: list[Step]) -> list[Line]:
    """A deal from its hands to its count."""
    first, last = steps[0].view, steps[-1].view
    shown = [_heading(first)]
    for number, step in enumerate(steps):
        shown += _told(step, number)
    return [*shown, *_end(last)]


def _heading(view: View) -> Line:
    return line(Span(f"── Match {view.match}, deal {view.deal}: {variant(view.rules)} ──", "bold"))


def _told(step: Step, number: int) -> list[Line]:
    """What happened at a step; a play with its number, hands where they were dealt."""
    shown: list[Line] = []
    for event in step.events:
        sentence = tell(event, step.view)
        if sentence is None:
            continue
        played = isinstance(event, happened.Played)
        shown.append(line(f"{number:>3}. ", sentence) if played else sentence)
        if isinstance(event, happened.Dealt | happened.DealVoided):
            shown += _hands(step.view)
        if isinstance(event, happened.Dealt) and number == 0 and step.view.table:
            shown.append(_table(step.view))
    return shown


def _hands(view: View) -> list[Line]:
    return [
        line("  ", Span(seat_name(view, seat.seat), "bold"), ": ", faces(view).set(seat.revealed))
        for seat in view.seats
        if seat.revealed
    ]


def _table(view: View) -> Line:
    return line("  Table: ", faces(view).set(view.table))


def _end(view: View) -> list[Line]:
    # Leftovers were told as the last thing that happened.
    told = (
        view
        if view.count is None
        else structs.replace(view, count=structs.replace(view.count, leftovers=None))
    )
    return [*count(told), *piles(view)] if view.count is not None else []


def step(shown: Step, number: int, last: int) -> list[Line]:
    """One step: what happened, the table, and at the end the count."""
    told = [sentence for event in shown.events if (sentence := tell(event, shown.view))]
    head = f"── Turn {number} of {last} ──" if number else "── As it was dealt ──"
    lines = [line(Span(head, "bold")), *told, *table(shown.view)]
    return [*lines, *(_end(shown.view) if number == last else [])]

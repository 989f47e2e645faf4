"""Other rules that somebody proposes to count by, and what they would make of the score."""

from collections.abc import Iterable

from scopa_cli.lines import Line, Span, fit, line, width
from scopa_protocol.rules import SCORING
from scopa_protocol.views import Proposal, View

from .lobby import written
from .people import by_holder, does, listed, seat_name, seats_listed, side_name


def proposal(view: View) -> list[Line]:
    """What is proposed, each side's score as it is and as it would be, and who is to answer."""
    proposed = view.proposal
    if proposed is None:
        return []
    view = by_holder(view)
    return [
        line(
            does(view, proposed.by, "propose", "proposes"),
            f" to count the match with {_changes(view, proposed)}:",
        ),
        *_scores(view, proposed),
        *_answers(view, proposed),
    ]


def _changes(view: View, proposed: Proposal) -> str:
    changes = [
        f"{field}={written(value)} (now {written(getattr(view.rules, field, '?'))})"
        for field, value in proposed.rules.items()
    ]
    return listed(changes) or "the same rules"


def _scores(view: View, proposed: Proposal) -> list[Line]:
    """Old and new by side; where the sides themselves change, both as they stand."""
    count = len(proposed.totals)
    if count == len(view.sides):
        names = [side_name(view, side) for side in range(count)]
        old = [str(side.score) for side in view.sides]
        changes = [
            f"{before:>3} → {after}"
            + ("" if before == str(after) else f"  ({after - int(before):+})")
            for before, after in zip(old, proposed.totals, strict=True)
        ]
        return _rows(names, changes)
    now = [(side_name(view, side.side), side.score) for side in view.sides]
    return [
        line(
            "  The score is ", ", ".join(f"{name} {score}" for name, score in now), "; it would be:"
        ),
        *_rows([_new_side(view, side, count) for side in range(count)], map(str, proposed.totals)),
    ]


def _new_side(view: View, side: int, sides: int) -> str:
    names = [
        "You" if seat.seat == view.you else seat_name(view, seat.seat)
        for seat in view.seats
        if seat.seat % sides == side
    ]
    return " & ".join(sorted(names, key=lambda name: name != "You"))


def _rows(names: list[str], amounts: Iterable[str]) -> list[Line]:
    columns = min(max(map(width, names), default=0), 24)
    return [
        line("  ", Span(fit(name, columns), "bold"), f"  {amount}")
        for name, amount in zip(names, amounts, strict=True)
    ]


def _answers(view: View, proposed: Proposal) -> list[Line]:
    if view.you in proposed.waiting:
        return [line("Type agree or decline. All have to agree.")]
    return (
        [line(f"Waiting for {seats_listed(view, proposed.waiting)}.")] if proposed.waiting else []
    )


def scoring(view: View) -> list[Line]:
    """What can be proposed, as it is now."""
    now = ", ".join(f"{field}={written(getattr(view.rules, field))}" for field in SCORING)
    return [
        line("Type the scoring rules to count with: propose target=21 ties=everyone"),
        line(f"Now: {now}."),
    ]

"""The count of a deal and the score sheet of a match, as tables with a column for each side."""

from collections.abc import Callable
from typing import Final

from scopa_cli.lines import Line, Span, fit, line, right, width
from scopa_protocol.views import Count, SideCount, View

from .faces import faces
from .people import side_name

FIRST_COLUMN: Final = 13
NARROWEST: Final = 9
LINE: Final = 79
"""Columns of the whole table on an ordinary terminal; even six sides fit."""
ITEMS: Final = (
    ("cards", "cards"),
    ("coins", "coins"),
    ("settebello", "settebello"),
    ("primiera", "primiera"),
    ("scope", "scope"),
    ("napola", "napola"),
    ("grande", "grande"),
    ("re_bello", "re bello"),
    ("settecoppe", "settecoppe"),
    ("all_sevens", "all sevens"),
    ("declarations", "declarations"),
)
ALWAYS: Final = frozenset({"cards", "coins", "settebello", "primiera", "scope"})
AMOUNTS: Final[dict[str, Callable[[SideCount], int | None]]] = {
    "cards": lambda side: side.cards,
    "coins": lambda side: side.coins,
    "primiera": lambda side: side.primiera,
    "scope": lambda side: side.scope,
}


def count(view: View) -> list[Line]:
    """The last finished deal, item by item, for every side."""
    counted = view.count
    if counted is None:
        return [line("No deal has been counted yet.")]
    columns = _columns(view)
    rows = [
        _row(name, [_cell(side, item) for side in counted.sides], columns)
        for item, name in _items(counted)
    ]
    return [
        line(Span(f"── The count of deal {counted.deal} ──", "bold")),
        _heads(view, columns),
        *rows,
        _row("this deal", [f"{side.total:+}" for side in counted.sides], columns, "bold"),
        _row("match", [str(total) for total in counted.totals], columns, "bold"),
        *_leftovers(view, counted),
    ]


def piles(view: View) -> list[Line]:
    """What each side captured in the last finished deal."""
    if view.count is None:
        return []
    return [
        line("  ", Span(side_name(view, number), "bold"), ": ", faces(view).set(side.pile))
        for number, side in enumerate(view.count.sides)
    ]


def _items(counted: Count) -> list[tuple[str, str]]:
    scored = {item for side in counted.sides for item in side.points}
    known = [(item, name) for item, name in ITEMS if item in ALWAYS or item in scored]
    others = sorted(scored - {item for item, _ in ITEMS})
    return [*known, *((item, item.replace("_", " ")) for item in others)]


def _cell(side: SideCount, item: str) -> str:
    amount_of = AMOUNTS.get(item)
    amount = amount_of(side) if amount_of else None
    points = side.points.get(item)
    held = "" if amount is None else str(amount)
    return f"{held:>3}  {'' if points is None else f'{points:+}':>3}"


def _columns(view: View) -> int:
    names = (width(side_name(view, side.side)) for side in view.sides)
    room = (LINE - FIRST_COLUMN) // max(len(view.sides), 1) - 2
    return max(min(max(names, default=0), room), NARROWEST)


def _heads(view: View, columns: int) -> Line:
    names = [side_name(view, side.side) for side in view.sides]
    cells = "".join(f"  {right(fit(name, columns).rstrip(), columns)}" for name in names)
    return line(" " * FIRST_COLUMN, Span(cells, "bold"))


def _row(name: str, cells: list[str], columns: int, style: str = "") -> Line:
    text = "".join(f"  {right(cell, columns)}" for cell in cells)
    return line(fit(name, FIRST_COLUMN), Span(text, "bold" if style else ""))


def _leftovers(view: View, counted: Count) -> list[Line]:
    if counted.leftovers is None or not counted.leftovers.cards:
        return []
    cards = faces(view).set(counted.leftovers.cards)
    side = counted.leftovers.side
    winner = "you" if side_name(view, side) == "You" else side_name(view, side)
    return [line("Left on the table: ", cards, f", to {winner}.")]


def sheet(view: View) -> list[Line]:
    """The match so far: points of each deal, totals, and the matches before."""
    if not view.match:
        return [line("No match has begun yet.")]
    columns = _columns(view)
    rows = [
        _row(f"deal {number}", [f"{points:+}" for points in deal], columns)
        for number, deal in enumerate(view.deals, 1)
    ]
    return [
        line(Span(f"── Match {view.match}, to {view.rules.target} ──", "bold")),
        _heads(view, columns),
        *rows,
        _row("score", [str(side.score) for side in view.sides], columns, "bold"),
        *_result(view),
        *_matches(view),
    ]


def _result(view: View) -> list[Line]:
    if view.phase != "match_over":
        return []
    if view.winner is None:
        return [line("The match was abandoned.")]
    totals = " to ".join(map(str, sorted((side.score for side in view.sides), reverse=True)))
    return [line(Span(f"{side_name(view, view.winner)} won the match, {totals}.", "bold"))]


def _matches(view: View) -> list[Line]:
    if len(view.matches) < 2:
        return []
    return [
        line(
            f"Match {number}: {' - '.join(map(str, result.totals))}, ",
            "abandoned." if result.winner is None else f"{side_name(view, result.winner)} won.",
        )
        for number, result in enumerate(view.matches, 1)
    ]

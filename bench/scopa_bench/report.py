"""A run's results as Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from .results import Goal, Results, Row

PARTS: Final = ("server", "store", "load")


def markdown(results: Results) -> str:
    """The whole report."""
    return "\n".join([*_head(results), *_rows(results), *_figures(results), *_goals(results)])


def _head(results: Results) -> Iterator[str]:
    machine = ", ".join(f"{name} {value}" for name, value in results.machine.items())
    versions = ", ".join(f"{name} {text}" for name, text in results.versions.items())
    yield f"# Bench of {results.date}{' (quick)' if results.quick else ''}"
    yield ""
    yield f"Machine: {machine}."
    yield f"Versions: {versions}."
    if results.note:
        yield results.note
    yield ""


def _rows(results: Results) -> Iterator[str]:
    saturated = [row for row in results.rows if row.pace is None]
    yield from _load_table("As fast as it goes", "tables", saturated)
    paced = [row for row in results.rows if row.pace is not None]
    yield from _load_table("At a pace", "tables x moves/s", paced)


def _load_table(title: str, of: str, rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    yield f"## {title}"
    yield ""
    costs = [f"{part} us" for part in PARTS]
    rest = ("p50 ms", "p99 ms", "KiB", "others %")
    titles = ("contender", of, "moves/s", *costs, *rest)
    yield from _table(titles, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    cost = [f"{row.cpu_us[part]:.0f}" if part in row.cpu_us else "" for part in PARTS]
    pace = "" if row.pace is None else f" x {row.pace:g}"
    times = [f"{row.p50_ms:.2f}", f"{row.p99_ms:.2f}"]
    rest = [f"{row.kib_a_move:.1f}", f"{row.others:.0%}".rstrip("%")]
    return [row.contender, f"{row.tables}{pace}", f"{row.rate:,.0f}", *cost, *times, *rest]


def _figures(results: Results) -> Iterator[str]:
    if results.figures:
        yield "## Other figures"
        yield ""
        rows = [[f.name, f"{f.value:,.4g}", f.unit, f.note] for f in results.figures]
        yield from _table(("what", "value", "unit", ""), rows)


def _goals(results: Results) -> Iterator[str]:
    yield "## Goals"
    yield ""
    yield from _table(("", "goal", "must", "aim", "found"), [_goal(g) for g in results.goals])


def _goal(goal: Goal) -> list[str]:
    mark = {"aim": "[x] aim", "must": "[x] must", "missed": "[ ] missed"}.get(goal.verdict, "-")
    sign = "<=" if goal.most else ">="
    found = "" if goal.value is None else f"{goal.value:,.3g} {goal.unit}"
    if goal.by_cpu is not None:
        found += f" ({goal.by_cpu:.3g} by processor time)"
    if goal.ceiling is not None:
        found += f"; these cores allow {goal.ceiling:.3g}"
    return [mark, goal.name, f"{sign} {goal.must:g} {goal.unit}", f"{sign} {goal.aim:g}", found]


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(titles)} |"
    yield f"|{'|'.join('---' for _ in titles)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""

"""The goals, and how far a run reaches them."""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from .results import Goal, Results

Reading: TypeAlias = Callable[[Results], float | None]

SQLITE: Final = "SQLite, json"
ALWAYS: Final = "Redis always, json"
SEND: Final = "relay by send"


class _Wanted(NamedTuple):
    name: str
    must: float
    aim: float
    unit: str
    most: bool
    read: Reading


def rate_against(ours: str, other: str, tables: int) -> Reading:
    """How many times as many moves a second."""

    def read(results: Results) -> float | None:
        first, second = results.row(ours, tables), results.row(other, tables)
        return first.rate / second.rate if first and second and second.rate else None

    return read


def cost_growth(ours: str, few: int, many: int) -> Reading:
    """How many times as much processor time a move costs with many tables."""

    def read(results: Results) -> float | None:
        before, after = results.row(ours, few), results.row(ours, many)
        return after.cpu_us["server"] / before.cpu_us["server"] if before and after else None

    return read


def paced_p99(ours: str, tables: int, pace: float) -> Reading:
    """How long all but one play in a hundred takes at most, in milliseconds."""

    def read(results: Results) -> float | None:
        found = results.row(ours, tables, pace)
        return found.p99_ms if found else None

    return read


def figure(name: str) -> Reading:
    """A figure as it is."""
    return lambda results: results.figure(name)


_WANTED: Final = (
    *(
        _Wanted(f"moves/s against {SEND}, {n} tables", 0.7, 1.0, "x", False, rate)
        for n in (100, 500)
        for rate in (rate_against(SQLITE, SEND, n),)
    ),
    _Wanted("p99, 500 tables x 4 moves/s", 15, 5, "ms", True, paced_p99(SQLITE, 500, 4)),
    _Wanted("p99, 500 tables x 1 move/s", 8, 4, "ms", True, paced_p99(SQLITE, 500, 1)),
    _Wanted(
        "cost a move, 500 tables against 10", 1.3, 1.0, "x", True, cost_growth(SQLITE, 10, 500)
    ),
)


def judged(results: Results) -> list[Goal]:
    """Every goal with what this run found."""
    return [
        Goal(
            name=wanted.name,
            must=wanted.must,
            aim=wanted.aim,
            unit=wanted.unit,
            most=wanted.most,
            value=wanted.read(results),
        )
        for wanted in _WANTED
    ]

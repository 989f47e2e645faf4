"""The goals, and how far a run reaches them."""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from .results import Goal, Results, Row

Reading: TypeAlias = Callable[[Results], float | None]

SQLITE: Final = "SQLite, json"
ALWAYS: Final = "Redis always, json"
WORKERS: Final = "Redis always, json, 2 workers"
SEND: Final = "relay by send"


class _Wanted(NamedTuple):
    name: str
    must: float
    aim: float
    unit: str
    most: bool
    read: Reading
    by_cpu: Reading | None = None
    ceiling: Reading | None = None


def rate_against(ours: str, other: str, tables: int) -> Reading:
    """How many times as many moves a second."""

    def read(results: Results) -> float | None:
        first, second = results.row(ours, tables), results.row(other, tables)
        return first.rate / second.rate if first and second and second.rate else None

    return read


def cost_against(ours: str, other: str, tables: int) -> Reading:
    """How many times as many moves for the same processor time, the store's included."""

    def read(results: Results) -> float | None:
        first, second = results.row(ours, tables), results.row(other, tables)
        return _cost(second) / _cost(first) if first and second else None

    return read


def room_for(ours: str, other: str, tables: int) -> Reading:
    """How many times as many moves a second these cores allow, if none of them ever rests.

    All of them are shared by what is measured, its store and the load.
    """

    def read(results: Results) -> float | None:
        first, second = results.row(ours, tables), results.row(other, tables)
        cores = results.machine.get("cores")
        if not (first and second and second.rate and isinstance(cores, int)):
            return None
        return cores * 1e6 / sum(first.cpu_us.values()) / second.rate

    return read


def _cost(row: Row) -> float:
    return row.cpu_us["server"] + row.cpu_us.get("store", 0.0)


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


def _against(
    ours: str, other: str, tables: int, must: float, aim: float, ceiling: Reading | None = None
) -> _Wanted:
    return _Wanted(
        f"moves/s: {ours} against {other}, {tables} tables",
        must,
        aim,
        "x",
        False,
        rate_against(ours, other, tables),
        cost_against(ours, other, tables),
        ceiling,
    )


_WANTED: Final = (
    _against(SQLITE, SEND, 100, 0.7, 1.0),
    _against(SQLITE, SEND, 500, 0.7, 1.0),
    _against(SQLITE, "boardgame.io", 100, 3, 4.5),
    _against(SQLITE, "boardgame.io", 500, 3, 4.5),
    _against(SQLITE, "Colyseus, schema", 100, 0.9, 1.2),
    _against(SQLITE, "Colyseus, schema", 500, 0.9, 1.2),
    _against(SQLITE, "Colyseus, messages", 100, 0.6, 0.9),
    _against(SQLITE, "Colyseus, messages", 500, 0.6, 0.9),
    _against(ALWAYS, SQLITE, 500, 0.8, 0.95),
    _against(WORKERS, ALWAYS, 500, 1.5, 1.8, room_for(WORKERS, ALWAYS, 500)),
    _Wanted("p99, 500 tables x 4 moves/s", 15, 5, "ms", True, paced_p99(SQLITE, 500, 4)),
    _Wanted("p99, 500 tables x 1 move/s", 8, 4, "ms", True, paced_p99(SQLITE, 500, 1)),
    _Wanted("memory of an idle connection", 24, 18, "KiB", True, figure("idle connection")),
    _Wanted("memory of a live room of four", 60, 30, "KiB", True, figure("live room of four")),
    _Wanted(
        "cost a move, 500 tables against 10", 1.3, 1.0, "x", True, cost_growth(SQLITE, 10, 500)
    ),
    _Wanted("cost a move, old rooms against new", 1.1, 1.0, "x", True, figure("cost in old rooms")),
    _Wanted("connections accepted", 600, 1200, "/s", False, figure("connections accepted")),
    _Wanted("whole deals by the rules", 3000, 8000, "/s", False, figure("rules: whole deals")),
    _Wanted(
        "the longest list of options",
        5,
        5,
        "ms",
        True,
        figure("rules: the longest list of options"),
    ),
    _Wanted("a room of 1,000 commits loads", 20, 20, "ms", True, figure("room loaded")),
    _Wanted("the server is ready", 0.5, 0.5, "s", True, figure("server ready")),
    _Wanted("the client's first prompt", 0.3, 0.3, "s", True, figure("client's first prompt")),
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
            by_cpu=wanted.by_cpu(results) if wanted.by_cpu else None,
            ceiling=wanted.ceiling(results) if wanted.ceiling else None,
        )
        for wanted in _WANTED
    ]

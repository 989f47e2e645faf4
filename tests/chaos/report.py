"""What a run of faults says: a line for each thing done, and a table of faults and invariants."""

from collections.abc import Iterator, Sequence

from .scene import INVARIANTS, Result

WIDTH = 40


def rows(result: Result) -> Iterator[str]:
    """What was done, what held and what didn't."""
    yield from result.notes
    yield (
        f"{result.plays} plays of people accepted; the next after {_longest(result.firsts)}, "
        f"everybody's after {_longest(result.lasts)}"
    )
    for invariant, faults in result.broken.items():
        yield from (f"BROKEN {invariant}: {fault}" for fault in faults)


def table(results: Sequence[Result]) -> str:
    """What held after each fault, with the time from each fault to the next accepted play."""
    head = "".join(f"{name:>8}" for name in INVARIANTS)
    lines = [f"{'fault':{WIDTH}}{head}{'next play':>11}{'of all':>9}{'plays':>7}"]
    for result in results:
        marks = "".join(f"{_mark(result, name):>8}" for name in INVARIANTS)
        times = f"{_longest(result.firsts):>11}{_longest(result.lasts):>9}"
        lines.append(f"{result.name:{WIDTH}}{marks}{times}{result.plays:>7}")
    return "\n".join(lines)


def _mark(result: Result, invariant: str) -> str:
    if invariant not in result.broken:
        return "-"
    return "BROKEN" if result.broken[invariant] else "ok"


def _longest(times: Sequence[float]) -> str:
    return f"{max(times):.2f} s" if times else "-"

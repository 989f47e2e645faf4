"""What cards taken must add up to, and every way to reach it (rulebook, A turn)."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, NamedTuple, TypeAlias

from scopa_server.rules.value import value


@value
class Partition:
    """One way to make a total: so many cards of each of these values."""

    size: int
    counts: int
    """How many of each value, as `COUNTED` adds up."""
    parts: tuple[tuple[int, int], ...]
    """Value and number of cards, highest first."""
    singles: tuple[int, ...]
    """Those values, if it takes one card of each; else none."""


_Parts: TypeAlias = tuple[tuple[int, int], ...]

ALIKE: Final = 5
"""Cards of one value that there can be: four, and a matta that stands for it."""


@cache
def _parts(total: int, highest: int) -> tuple[_Parts, ...]:
    """Every way to make a total of values up to the highest."""
    if total == 0:
        return ((),)
    return tuple(
        ((value, number), *rest)
        for value in range(min(total, highest), 0, -1)
        for number in range(1, min(ALIKE, total // value) + 1)
        for rest in _parts(total - number * value, value - 1)
    )


@cache
def _partition(parts: _Parts) -> Partition:
    size = sum(number for _, number in parts)
    values = tuple(value for value, _ in parts)
    singles = values if len(values) == size else ()
    counts = sum(number << 4 * value for value, number in parts)
    return Partition(size, counts, parts, singles)


class Totals(NamedTuple):
    """What a card may take by adding up; 0 where the rules know no such capture."""

    match: int
    """The card's own value: of one card, or of several."""
    fifteen: int
    """What makes fifteen with the card."""
    partitions: tuple[Partition, ...]
    """The ways of both, but for one card of equal value, the fewest cards first."""


def _totals(match: int, fifteen: int) -> Totals:
    parts = [*_parts(match, match - 1)] if match else []
    parts += [*_parts(fifteen, 10)] if fifteen else []
    ways = sorted(map(_partition, parts), key=lambda way: way.size)
    return Totals(match, fifteen, tuple(ways))


def _sum(value: int) -> Totals:
    return _totals(value, 0)


def _fifteen(value: int) -> Totals:
    return _totals(0, 15 - value)


def _sum_or_fifteen(value: int) -> Totals:
    return _totals(value, 15 - value)


def _nothing(_: int) -> Totals:
    return _totals(0, 0)


def _by_value(capture: Callable[[int], Totals]) -> tuple[Totals, ...]:
    return (_nothing(0), *map(capture, range(1, 11)))


CAPTURES: Final[Mapping[str, tuple[Totals, ...]]] = {
    "sum": _by_value(_sum),
    "fifteen": _by_value(_fifteen),
    "sum_or_fifteen": _by_value(_sum_or_fifteen),
}
"""What a card of each value may take, by `capture`."""

BARRED: Final[Mapping[str, tuple[Totals, ...]]] = {
    "sum": _by_value(_nothing),
    "fifteen": _by_value(_fifteen),
    "sum_or_fifteen": _by_value(_fifteen),
}
"""The same where an equal card bars the sums (`equal_first`)."""

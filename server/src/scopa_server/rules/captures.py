"""Which cards a played card may take from the table (rulebook, A turn)."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, combinations, islice, product
from operator import itemgetter
from typing import Final, Literal, NamedTuple, TypeAlias

from scopa_server.rules.cards import COUNTED, VALUES, Card
from scopa_server.rules.record import Rules
from scopa_server.rules.totals import BARRED, CAPTURES, Partition, Totals

Refusal: TypeAlias = Literal["not_in_hand", "not_on_table", "must_capture", "illegal_capture"]
"""Why a play is not allowed."""

_Claims: TypeAlias = tuple[int, Totals, bool]
"""What one card may take from one table: a card of this value, these totals, everything."""


def _takes_ace(values: Collection[int], totals: Totals) -> _Claims:
    return (1, totals, False) if 1 in values else (0, totals, True)


def _sweeps(_: Collection[int], totals: Totals) -> _Claims:
    return 0, totals, True


ACES: Final[Mapping[str, Callable[[Collection[int], Totals], _Claims]]] = {
    "takes_ace": _takes_ace,
    "sweeps": _sweeps,
}
"""What an ace that sweeps may take, by `ace_on_ace`."""


class _Turn(NamedTuple):
    """The rules by which a card takes."""

    capture: str
    equal_first: bool
    ace_sweeps: bool
    ace_on_ace: str
    fewest: bool


def _claims(rules: Rules | _Turn, values: Collection[int], value: int) -> _Claims:
    totals = CAPTURES[rules.capture][value]
    if value == 1 and rules.ace_sweeps:
        return ACES[rules.ace_on_ace](values, totals)
    if rules.equal_first and totals.match in values:
        return value, BARRED[rules.capture][value], False
    return totals.match, totals, False


_ANYTHING: Final = ~1


def _wanted(capture: str, ace_sweeps: bool) -> tuple[int, ...]:
    bits = [totals.bits for totals in CAPTURES[capture]]
    return (0, _ANYTHING if ace_sweeps else bits[1], *bits[2:])


_WANTED: Final[Mapping[tuple[str, bool], tuple[int, ...]]] = {
    (capture, ace_sweeps): _wanted(capture, ace_sweeps)
    for capture in CAPTURES
    for ace_sweeps in (False, True)
}
"""A bit for every total on the table that lets a card of each value take something."""


def _reachable(values: Sequence[int]) -> int:
    """Set the bit of every total that some of the values make."""
    totals = 1
    for value in values:
        totals |= totals << value
    return totals


def _least(values: Sequence[int], total: int) -> float:
    """Count the fewest cards that make a total; infinity if none do."""
    least = [0.0] + [float("inf")] * total
    for value in values:
        for reached in range(total, value - 1, -1):
            least[reached] = min(least[reached], least[reached - value] + 1)
    return least[total] or float("inf")


def _fewest(values: Sequence[int], totals: Totals) -> float:
    lower = [value for value in values if value < totals.match]
    return min(_least(lower, totals.match), _least(values, totals.fifteen))


def can_take(rules: Rules, table: Sequence[Card], card: Card, *, matta: int | None = None) -> bool:
    """Tell whether a card can take anything, without listing what."""
    value_of = VALUES[matta]
    reachable = _reachable([value_of[other] for other in table])
    return reachable & _WANTED[rules.capture, rules.ace_sweeps][value_of[card]] != 0


def is_legal(
    rules: Rules,
    table: Sequence[Card],
    card: Card,
    take: Sequence[Card],
    *,
    matta: int | None = None,
) -> bool:
    """Tell whether a card may take these cards: one or more, each of them on the table."""
    value_of = VALUES[matta]
    values = [value_of[other] for other in table]
    alone, totals, everything = _claims(rules, values, value_of[card])
    size, total = len(take), sum(value_of[other] for other in take)
    if (size == 1 and total == alone) or (everything and size == len(table)):
        return True
    if total == totals.fifteen or (size > 1 and total == totals.match):
        return not rules.fewest or size == _fewest(values, totals)
    return False


def check(
    rules: Rules,
    hand: Sequence[Card],
    table: Sequence[Card],
    card: Card,
    take: Sequence[Card],
    matta: int | None = None,
) -> Refusal | None:
    """Say why a card can't be played so; None if it can."""
    if card not in hand:
        return "not_in_hand"
    if len(set(take)) < len(take) or not set(take) <= set(table):
        return "not_on_table"
    if take:
        legal = is_legal(rules, table, card, take, matta=matta)
        return None if legal else "illegal_capture"
    if rules.must_capture and can_take(rules, table, card, matta=matta):
        return "must_capture"
    return None


def options(
    rules: Rules,
    table: Sequence[Card],
    card: Card,
    *,
    matta: int | None = None,
    limit: int | None = None,
) -> list[tuple[Card, ...]]:
    """List the sets a card may take, fewest cards first; none: it is laid, or takes itself."""
    return listing(rules, (card,), table, matta=matta, limit=limit)[card]


def listing(
    rules: Rules,
    hand: Sequence[Card],
    table: Sequence[Card],
    *,
    matta: int | None = None,
    limit: int | None = None,
) -> dict[Card, list[tuple[Card, ...]]]:
    """List the options of every card of a hand, at most `limit` for each."""
    value_of = VALUES[matta]
    counts = sum(map(COUNTED[matta].__getitem__, table))
    values = (counts | counts >> 1 | counts >> 2) & _ONES
    alike = counts != values
    plans = _plans(
        rules.capture,
        rules.equal_first,
        rules.ace_sweeps,
        rules.ace_on_ace,
        rules.fewest,
        values,
        alike,
    )
    options: dict[Card, list[tuple[Card, ...]]] = {}
    lying: Mapping[int, Sequence[Card]] | None = None
    single: Mapping[int, Card] | None = None
    for card in hand:
        plan = plans[value_of[card]]
        if plan is None:
            options[card] = []
        elif plan.picks is None:
            lying = _by_value(table, value_of) if lying is None else lying
            options[card] = _sets(plan, counts, lying, rules.fewest, limit)
        else:
            single = {value_of[other]: other for other in table} if single is None else single
            found = [pick(single) for pick in plan.picks]
            options[card] = found if limit is None else found[:limit]
    return options


def _by_value(table: Sequence[Card], value_of: Mapping[Card, int]) -> dict[int, list[Card]]:
    lying: dict[int, list[Card]] = {}
    for card in table:
        value = value_of[card]
        if value in lying:
            lying[value].append(card)
        else:
            lying[value] = [card]
    return lying


_Pick: TypeAlias = Callable[[Mapping[int, Card]], tuple[Card, ...]]
"""Takes one card of each of certain values."""


def _pick(values: Sequence[int]) -> _Pick:
    if len(values) > 1:
        return itemgetter(*values)
    (value,) = values
    return lambda lying: (lying[value],)


class _Plan(NamedTuple):
    """What a card may take wherever certain values lie on the table, and no others."""

    alone: int
    """A card of this value; 0: no single one."""
    picks: tuple[_Pick, ...] | None
    """What it may take where no two are alike; None: that needs a closer look."""
    ways: tuple[Partition, ...]
    """Cards that add up, where there are as many of each value."""
    everything: bool
    fifteen: int
    """The total that makes everything one of the ways."""


_ONES: Final = sum(1 << 4 * value for value in range(1, 11))
_TOPS: Final = 8 * _ONES


@cache
def _plans(
    capture: str,
    equal_first: bool,
    ace_sweeps: bool,
    ace_on_ace: str,
    fewest: bool,
    values: int,
    alike: bool,
) -> tuple[_Plan | None, ...]:
    """Plan for a card of each value where these lie; None: it takes nothing.

    `alike`: some of them more than once. There are 2,048 such tables: each is worked out once.
    """
    turn = _Turn(capture, equal_first, ace_sweeps, ace_on_ace, fewest)
    return (None, *(_plan(turn, values, alike, value) for value in range(1, 11)))


def _plan(turn: _Turn, values: int, alike: bool, value: int) -> _Plan | None:
    lying = [other for other in range(1, 11) if values >> 4 * other & 1]
    alone, totals, everything = _claims(turn, lying, value)
    ways = [
        way
        for way in totals.partitions
        if (alike or way.singles) and all(part in lying for part, _ in way.parts)
    ]
    alone, everything = alone if alone in lying else 0, everything and bool(lying)
    if not (alone or ways or everything):
        return None
    picks = None
    if not (alike or everything):
        least = ways[0].size if ways and turn.fewest else None
        singles = [way.singles for way in ways if way.size == least or not least]
        picks = tuple(map(_pick, [(alone,), *singles] if alone else singles))
    return _Plan(alone, picks, tuple(ways), everything, totals.fifteen)


def _sets(
    plan: _Plan,
    counts: int,
    lying: Mapping[int, Sequence[Card]],
    fewest: bool,
    limit: int | None,
) -> list[tuple[Card, ...]]:
    found: list[tuple[Card, ...]] = []
    if plan.alone:
        found += zip(lying[plan.alone], strict=True)
    if plan.ways:
        found += _sums(plan.ways, counts, lying, fewest, limit)
    if (
        plan.everything
        and sum(value * len(cards) for value, cards in lying.items()) != plan.fifteen
    ):
        found.append(tuple(chain.from_iterable(lying.values())))
    return found[:limit]


def _sums(
    ways: Iterable[Partition],
    counts: int,
    lying: Mapping[int, Sequence[Card]],
    fewest: bool,
    limit: int | None,
) -> list[tuple[Card, ...]]:
    found: list[tuple[Card, ...]] = []
    for way in ways:
        if way.singles:
            picks: Iterable[tuple[Card, ...]] = product(*[lying[value] for value in way.singles])
        elif _has(counts, way):
            picks = _picks(way, lying)
        else:
            continue
        if fewest and found and way.size > len(found[0]):
            break
        found += picks if limit is None else islice(picks, limit - len(found))
    return found


def _has(counts: int, way: Partition) -> bool:
    """Whether there are enough cards of each value."""
    # Eight and as many as there are, less those it takes: the top one of four bits stays.
    return (counts | _TOPS) - way.counts & _TOPS == _TOPS


def _picks(way: Partition, lying: Mapping[int, Sequence[Card]]) -> Iterable[tuple[Card, ...]]:
    chosen = [combinations(lying[value], number) for value, number in way.parts]
    return [tuple(chain.from_iterable(picked)) for picked in product(*chosen)]

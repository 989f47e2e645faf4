"""Which cards a played card may take from the table (rulebook, A turn)."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, combinations, islice, product, starmap
from operator import itemgetter
from typing import Final, Literal, NamedTuple, TypeAlias

from scopa_server.rules.cards import COUNTED, VALUES, Card
from scopa_server.rules.record import Rules
from scopa_server.rules.totals import BARRED, CAPTURES, Partition, Totals
from scopa_server.rules.value import value

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


def _claims(rules: _Turn, values: Collection[int], value: int) -> _Claims:
    totals = CAPTURES[rules.capture][value]
    if value == 1 and rules.ace_sweeps:
        return ACES[rules.ace_on_ace](values, totals)
    if rules.equal_first and totals.match in values:
        return value, BARRED[rules.capture][value], False
    return totals.match, totals, False


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
    counted = COUNTED[matta]
    counts = sum(map(counted, table))
    plan = _plans_at(rules, counts)[VALUES[matta][card]]
    if not take:
        must = rules.must_capture and plan is not None and plan.takes(counts)
        return "must_capture" if must else None
    if not _lie(table, take):
        return "not_on_table"
    legal = plan is not None and plan.allows(sum(map(counted, take)), counts, rules.fewest)
    return None if legal else "illegal_capture"


def _lie(table: Sequence[Card], take: Sequence[Card]) -> bool:
    """Tell whether these cards lie on the table, each of them once."""
    if len(take) == 1:
        return take[0] in table
    return len(set(table).intersection(take)) == len(take)


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
    plans = _plans_at(rules, sum(map(COUNTED[matta], table)))
    options: dict[Card, list[tuple[Card, ...]]] = {}
    single: dict[int, Card] = {}
    lying: Mapping[int, Sequence[Card]] = {}
    for card in hand:
        plan = plans[value_of[card]]
        found: list[tuple[Card, ...]] = []
        options[card] = found
        if plan is None:
            continue
        if plan.picks is None:
            lying = lying or _by_value(table, value_of)
            found += _sets(plan, lying, rules.fewest, limit)
            continue
        if not single:
            for one in table:
                single[value_of[one]] = one
        for pick in plan.picks if limit is None else plan.picks[:limit]:
            found.append(pick(single))
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
"""Takes some of a table's cards by their values, where no two are alike."""


def _pick(values: Sequence[int]) -> _Pick:
    if len(values) > 1:
        return itemgetter(*values)
    (value,) = values
    return lambda single: (single[value],)


@value
class _Plan:
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
    sure: bool
    """It takes something however many there are of each value."""

    def takes(self, counts: int) -> bool:
        """Tell whether it takes something where there are so many of each value."""
        return self.sure or any(_has(counts, way) for way in self.ways)

    def allows(self, taken: int, counts: int, fewest: bool) -> bool:
        """Tell whether it takes so many of each value, of so many as there are."""
        if taken == 1 << 4 * self.alone or (self.everything and taken == counts):
            return True
        for way in self.ways:
            if way.counts == taken:
                return not fewest or way.size == self._least(counts)
        return False

    def _least(self, counts: int) -> int:
        return next(way.size for way in self.ways if _has(counts, way))


_ONES: Final = sum(1 << 4 * value for value in range(1, 11))
_MORE: Final = 14 * _ONES
_TOPS: Final = 8 * _ONES
_ALIKE: Final = 1
"""Beside the values that lie: some of them more than once."""

_PlanOfEach: TypeAlias = tuple[_Plan | None, ...]
"""What a card of each value may take; None: nothing."""


class _Plans(dict[int, _PlanOfEach]):
    """Plans by the values that lie on the table, and whether some are alike.

    There are 2,048 such tables: each is worked out once.
    """

    def __init__(self, turn: _Turn) -> None:
        super().__init__()
        self._turn = turn

    def __missing__(self, lying: int) -> _PlanOfEach:
        values, alike = lying & _ONES, lying & _ALIKE > 0
        plans = [_plan(self._turn, values, alike, value) for value in range(1, 11)]
        self[lying] = (None, *plans)
        return self[lying]


_PLANS: Final[Mapping[tuple[object, ...], _Plans]] = {
    turn: _Plans(turn)
    for turn in starmap(_Turn, product(CAPTURES, (False, True), (False, True), ACES, (False, True)))
}


def _plans_at(rules: Rules, counts: int) -> _PlanOfEach:
    """Plan for a card of each value where there are so many of each."""
    plans = _PLANS[
        rules.capture, rules.equal_first, rules.ace_sweeps, rules.ace_on_ace, rules.fewest
    ]
    if counts & _MORE:
        return plans[(counts | counts >> 1 | counts >> 2) & _ONES | _ALIKE]
    return plans[counts]


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
        sets = [(alone,), *singles] if alone else singles
        picks = tuple([_pick(values) for values in sets])
    sure = alone > 0 or everything or any(way.singles for way in ways)
    return _Plan(alone, picks, tuple(ways), everything, totals.fifteen, sure)


def _sets(
    plan: _Plan, lying: Mapping[int, Sequence[Card]], fewest: bool, limit: int | None
) -> list[tuple[Card, ...]]:
    found: list[tuple[Card, ...]] = []
    if plan.alone:
        found += zip(lying[plan.alone], strict=True)
    if plan.ways:
        found += _sums(plan.ways, lying, fewest, limit)
    if (
        plan.everything
        and sum(value * len(cards) for value, cards in lying.items()) != plan.fifteen
    ):
        found.append(tuple(chain.from_iterable(lying.values())))
    return found[:limit]


def _sums(
    ways: Iterable[Partition],
    lying: Mapping[int, Sequence[Card]],
    fewest: bool,
    limit: int | None,
) -> list[tuple[Card, ...]]:
    counts = sum(len(cards) << 4 * value for value, cards in lying.items())
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

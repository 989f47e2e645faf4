"""Which cards a played card may take from the table (rulebook, A turn)."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, Literal, NamedTuple, TypeAlias

from scopa_server.rules.cards import VALUES, Card
from scopa_server.rules.record import Rules
from scopa_server.rules.totals import BARRED, CAPTURES, Partition, Totals

Refusal: TypeAlias = Literal["not_in_hand", "not_on_table", "must_capture", "illegal_capture"]
"""Why a play is not allowed."""


class _Claims(NamedTuple):
    """What one card may take from one table."""

    alone: int
    """The value of which it may take one card; 0 for none."""
    totals: Totals
    everything: bool


def _takes_ace(values: Sequence[int], totals: Totals) -> _Claims:
    return _Claims(1, totals, False) if 1 in values else _Claims(0, totals, True)


def _sweeps(_: Sequence[int], totals: Totals) -> _Claims:
    return _Claims(0, totals, True)


ACES: Final[Mapping[str, Callable[[Sequence[int], Totals], _Claims]]] = {
    "takes_ace": _takes_ace,
    "sweeps": _sweeps,
}
"""What an ace that sweeps may take, by `ace_on_ace`."""


def _claims(rules: Rules, values: Sequence[int], value: int) -> _Claims:
    totals = CAPTURES[rules.capture][value]
    if value == 1 and rules.ace_sweeps:
        return ACES[rules.ace_on_ace](values, totals)
    if rules.equal_first and totals.match in values:
        return _Claims(totals.match, BARRED[rules.capture][value], False)
    return _Claims(totals.match, totals, False)


def _reachable(values: Sequence[int]) -> int:
    """Set the bit of every total that some of the values make."""
    totals = 1
    for value in values:
        totals |= totals << value
    return totals


def _is_possible(rules: Rules, reachable: int, value: int) -> bool:
    # Something lies there if more than the total of nothing is reachable.
    if value == 1 and rules.ace_sweeps:
        return reachable > 1
    return reachable & CAPTURES[rules.capture][value].bits != 0


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
    return _is_possible(rules, reachable, value_of[card])


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
    values = [value_of[card] for card in table]
    reachable = _reachable(values)
    most = sys.maxsize if limit is None else limit
    found: dict[Card, list[tuple[Card, ...]]] = {}
    for card in hand:
        possible = _is_possible(rules, reachable, value_of[card])
        found[card] = _sets(rules, table, values, value_of[card], most) if possible else []
    return found


def _sets(
    rules: Rules, table: Sequence[Card], values: Sequence[int], value: int, most: int
) -> list[tuple[Card, ...]]:
    alone, totals, everything = _claims(rules, values, value)
    found: list[tuple[Card, ...]] = [
        (card,) for card, other in zip(table, values, strict=True) if other == alone
    ]
    if totals.partitions:
        lying = _by_value(table, values)
        for partition in _possible(rules, totals, lying, len(table)):
            if len(found) >= most:
                break
            found += _picks(partition, lying, most - len(found))
    # All as a fifteen is already there.
    if everything and sum(values) != totals.fifteen:
        found.append(tuple(table))
    return found[:most]


def _by_value(table: Sequence[Card], values: Sequence[int]) -> dict[int, list[Card]]:
    lying: dict[int, list[Card]] = {}
    for card, value in zip(table, values, strict=True):
        lying.setdefault(value, []).append(card)
    return lying


def _possible(
    rules: Rules, totals: Totals, lying: Mapping[int, Sequence[Card]], cards: int
) -> Iterator[Partition]:
    missing = ~sum(1 << value for value in lying)
    most = cards
    for partition in totals.partitions:
        size, values, parts = partition
        if size > most:
            return
        if values & missing or any(len(lying[value]) < number for value, number in parts):
            continue
        if rules.fewest:
            most = size
        yield partition


def _picks(
    partition: Partition, lying: Mapping[int, Sequence[Card]], most: int
) -> list[tuple[Card, ...]]:
    # Every beginning can be completed, so no more of them are needed than sets in the end.
    picks: list[tuple[Card, ...]] = [()]
    for value, number in partition.parts:
        same = list(combinations(lying[value], number))
        picks = [(*pick, *cards) for pick in picks for cards in same][:most]
    return picks

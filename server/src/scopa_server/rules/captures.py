"""Which cards a played card may take from the table (rulebook, A turn)."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Final, Literal, TypeAlias

from scopa_server.rules.cards import VALUES, Card
from scopa_server.rules.record import Rules
from scopa_server.rules.totals import BARRED, CAPTURES, Partition, Totals

Refusal: TypeAlias = Literal["not_in_hand", "not_on_table", "must_capture", "illegal_capture"]
"""Why a play is not allowed."""

_Claims: TypeAlias = tuple[int, Totals, bool]
"""What one card may take from one table: a card of this value, these totals, everything."""


def _takes_ace(values: Sequence[int], totals: Totals) -> _Claims:
    return (1, totals, False) if 1 in values else (0, totals, True)


def _sweeps(_: Sequence[int], totals: Totals) -> _Claims:
    return 0, totals, True


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
        totals = BARRED[rules.capture][value]
        return value, totals, False
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
    values = [value_of[card] for card in table]
    reachable, wanted = _reachable(values), _WANTED[rules.capture, rules.ace_sweeps]
    return {
        card: _sets(rules, table, values, value_of[card], limit)
        if reachable & wanted[value_of[card]]
        else []
        for card in hand
    }


def _sets(
    rules: Rules, table: Sequence[Card], values: Sequence[int], value: int, limit: int | None
) -> list[tuple[Card, ...]]:
    alone, totals, everything = _claims(rules, values, value)
    found: list[tuple[Card, ...]] = []
    if alone in values:
        found += [(card,) for card, other in zip(table, values, strict=True) if other == alone]
    within = totals.partitions[len(table)]
    if within:
        found += _sums(rules, _by_value(table, values), within, limit)
    # All as a fifteen is already there.
    if everything and sum(values) != totals.fifteen:
        found.append(tuple(table))
    return found if limit is None else found[:limit]


def _by_value(table: Sequence[Card], values: Sequence[int]) -> dict[int, list[Card]]:
    lying: dict[int, list[Card]] = {}
    for card, value in zip(table, values, strict=True):
        lying.setdefault(value, []).append(card)
    return lying


def _sums(
    rules: Rules,
    lying: Mapping[int, Sequence[Card]],
    partitions: Sequence[Partition],
    limit: int | None,
) -> list[tuple[Card, ...]]:
    missing = ~sum([1 << value for value in lying])
    found: list[tuple[Card, ...]] = []
    for way in [way for way in partitions if not way.values & missing]:
        if found and (len(found) == limit or (rules.fewest and way.size > len(found[0]))):
            break
        found += _picks(way, lying, None if limit is None else limit - len(found))
    return found


def _picks(
    way: Partition, lying: Mapping[int, Sequence[Card]], limit: int | None
) -> list[tuple[Card, ...]]:
    # All beginnings can be completed, or none: no more are needed than sets in the end.
    picks: list[tuple[Card, ...]] = [()]
    for value, number in way.parts:
        chosen = list(combinations(lying[value], number))
        picks = [(*pick, *cards) for pick in picks for cards in chosen][:limit]
    return picks

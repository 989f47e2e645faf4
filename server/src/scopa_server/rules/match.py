"""Totals from deal to deal, and who has won (rulebook, The match)."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from scopa_server.rules.count import DealFacts, SideCount, count_deal
from scopa_server.rules.record import Rules

Totals: TypeAlias = tuple[int, ...]
"""Each side's points so far in the match."""


def add(rules: Rules, totals: Sequence[int], counts: Sequence[SideCount]) -> Totals:
    """Add a deal's points; enough coins in it reset the others (rulebook, `coins_reset`)."""
    resets = [bool(rules.coins_reset) and count.coins >= rules.coins_reset for count in counts]
    return tuple(
        0 if any(resets) and not reset else total + count.total
        for total, count, reset in zip(totals, counts, resets, strict=True)
    )


def _alone(totals: Sequence[int], best: int) -> int | None:
    return totals.index(best) if totals.count(best) == 1 else None


def _all_coins(rules: Rules, _: Sequence[int], counts: Sequence[SideCount] | None) -> int | None:
    if rules.all_coins == "nothing":
        return None
    return next((side for side, count in enumerate(counts or ()) if count.coins == 10), None)


def _cappotto(rules: Rules, totals: Sequence[int], _: Sequence[SideCount] | None) -> int | None:
    best = max(totals)
    shut_out = totals.count(0) == len(totals) - 1
    return totals.index(best) if rules.cappotto and best >= 7 and shut_out else None


def _target(rules: Rules, totals: Sequence[int], _: Sequence[SideCount] | None) -> int | None:
    if max(totals) < rules.target:
        return None
    return _alone(totals, min(totals) if rules.reverse else max(totals))


ENDS: Final[
    tuple[
        Callable[[Rules, Sequence[int], Sequence[SideCount] | None], int | None],
        ...,
    ]
] = (_all_coins, _cappotto, _target)
"""What can settle a match, in the order it is tested (rulebook, The match 1 to 3)."""


def winner(
    rules: Rules, totals: Sequence[int], latest_counts: Sequence[SideCount] | None
) -> int | None:
    """Name the side that has won with these totals after the latest deal; None: play on."""
    for end in ENDS:
        side = end(rules, totals, latest_counts)
        if side is not None:
            return side
    return None


def standings(rules: Rules, deals: Sequence[DealFacts]) -> tuple[list[Totals], int | None]:
    """Count a match's deals again: the totals after each, and who has won with the latest."""
    totals: Totals = (0,) * rules.sides
    running: list[Totals] = []
    counts: tuple[SideCount, ...] | None = None
    for facts in deals:
        counts = count_deal(rules, facts)
        totals = add(rules, totals, counts)
        running.append(totals)
    return running, winner(rules, totals, counts)

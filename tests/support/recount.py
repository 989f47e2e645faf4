"""A match counted from nothing but the cards that were played, in the rulebook's words.

Nothing here calls the rules: what a history tells of a deal is played out and counted anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from scopa_protocol.history import HistoryDeal
from scopa_protocol.rules import Rules

PRIMIERA: Final = {7: 21, 6: 18, 1: 16, 5: 15, 4: 14, 3: 13, 2: 12, 8: 10, 9: 10, 10: 10}
RANKS: Final = (7, 6, 1, 5, 4, 3, 2, 10, 9, 8)


@dataclass
class Taken:
    """What a side has after a deal: its cards, and the worth of each scopa."""

    pile: set[str] = field(default_factory=set[str])
    scope: list[int] = field(default_factory=list[int])


def value(card: str, named: int | None = None) -> int:
    """A card's value; `named`: what 7C was declared to stand for."""
    return named if named is not None and card == "7C" else int(card[:-1])


def coins(pile: set[str]) -> list[int]:
    """The values of a pile's coins, lowest first."""
    return sorted(value(card) for card in pile if card[-1] == "D")


def played_out(rules: Rules, deal: HistoryDeal) -> list[Taken]:
    """A deal's plays, one after another, and who gets what is left."""
    sides = [Taken() for _ in range(rules.sides)]
    table, last = set(deal.table), None
    named = next((hand.matta for hand in deal.declared if hand.matta is not None), None)
    if deal.opening_swept is not None:
        last = sides[deal.dealer % rules.sides]
        last.pile, last.scope, table = table, [1] * deal.opening_swept.scope, set()
    for number, (seat, card, take, _) in enumerate(deal.plays, start=1):
        mine = sides[seat % rules.sides]
        table.add(card)
        alone = len(table) == 1
        if take or (alone and value(card, named) == 1 and rules.ace_on_empty == "takes_itself"):
            table -= {card, *take}
            mine.pile |= {card, *take}
            last = mine
        values = [value(other, named) for other in (card, *take)]
        if take and not table and _is_scopa(rules, values, number == len(deal.plays)):
            mine.scope.append(
                {"one": 1, "card": values[0], "cards": len(values)}[rules.scopa_value]
            )
    if last is not None:
        last.pile |= table
        if table and rules.leftovers_scopa:
            last.scope.append(1)
    return sides


def _is_scopa(rules: Rules, values: list[int], is_last: bool) -> bool:
    """Whether a sweep counts; the values of the card played and of those it took."""
    fifteen = rules.capture != "sum" and sum(values) == 15
    swept_by_ace = values[0] == 1 and rules.ace_sweeps and values != [1, 1] and not fifteen
    return (rules.ace_scopa or not swept_by_ace) and (rules.last_card_scopa or not is_last)


def _primiera(rules: Rules, pile: set[str]) -> list[int]:
    if rules.primiera == "off":
        return [0]
    if rules.primiera.startswith("sevens"):
        ranks = RANKS[:2] if rules.primiera == "sevens_sixes" else RANKS
        return [sum(value(card) == rank for card in pile) for rank in ranks]
    points = dict(PRIMIERA)
    if rules.primiera == "faces_zero":
        points |= {8: 0, 9: 0, 10: 0}
    best = [max((points[value(c)] for c in pile if c[-1] == suit), default=None) for suit in "DCSB"]
    if None in best and rules.primiera_short == "out":
        return [0]
    return [sum(worth or 0 for worth in best)]


def _majority(rules: Rules, strengths: list[list[int]]) -> list[int]:
    best = max(strengths)
    winners = [side for side, strength in enumerate(strengths) if strength == best]
    if not any(best) or (len(winners) > 1 and rules.ties == "nobody"):
        winners = []
    return [int(side in winners) for side in range(len(strengths))]


def _alone(rules: Rules, side: Taken) -> int:
    """What a side scores whatever the others have."""
    pile, points = side.pile, sum(side.scope)
    points += "7D" in pile
    points += rules.re_bello and "10D" in pile
    points += rules.settecoppe and "7C" in pile
    points += rules.all_sevens and {"7D", "7C", "7S", "7B"} <= pile
    points += 5 * (rules.grande and {"8D", "9D", "10D"} <= pile)
    run = len(list(takewhile(lambda pair: pair[0] == pair[1], enumerate(coins(pile), start=1))))
    if run >= 3:
        points += {"off": 0, "run": min(run, rules.napola_cap), "three": 3}[rules.napola]
    return points


def points(rules: Rules, deal: HistoryDeal) -> list[int]:
    """Each side's points of a deal."""
    sides = played_out(rules, deal)
    shared = [
        _majority(rules, [[len(side.pile)] for side in sides]),
        _majority(rules, [[len(coins(side.pile))] for side in sides]),
        _majority(rules, [_primiera(rules, side.pile) for side in sides]),
    ]
    declared = [0] * rules.sides
    for hand in deal.declared:
        declared[hand.seat % rules.sides] += hand.points
    return [
        _alone(rules, side) + declared[number] + sum(item[number] for item in shared)
        for number, side in enumerate(sides)
    ]


def totals(rules: Rules, deals: Sequence[HistoryDeal]) -> list[list[int]]:
    """Each side's points so far, after each deal."""
    so_far = [0] * rules.sides
    running: list[list[int]] = []
    for deal in deals:
        enough = [
            bool(rules.coins_reset) and len(coins(side.pile)) >= rules.coins_reset
            for side in played_out(rules, deal)
        ]
        so_far = [
            0 if any(enough) and not has else old + new
            for old, new, has in zip(so_far, points(rules, deal), enough, strict=True)
        ]
        running.append(so_far)
    return running


def winner(rules: Rules, deals: Sequence[HistoryDeal]) -> int | None:
    """Who has won with the latest deal (rulebook, The match)."""
    latest = totals(rules, deals)[-1]
    piles = [coins(side.pile) for side in played_out(rules, deals[-1])]
    if rules.all_coins == "wins_match" and max(map(len, piles)) == 10:
        return [len(pile) for pile in piles].index(10)
    best = max(latest)
    if rules.cappotto and best >= 7 and sorted(latest)[:-1] == [0] * (len(latest) - 1):
        return latest.index(best)
    wanted = min(latest) if rules.reverse else best
    if best < rules.target or latest.count(wanted) > 1:
        return None
    return latest.index(wanted)

"""The count after a deal, item by item (rulebook, The count)."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias

from scopa_server.rules.cards import Card, parse, pile_of, suits_of
from scopa_server.rules.deal import Deal, Sweep, declared_points, finish, is_scopa, leftovers
from scopa_server.rules.primiera import PRIMIERE, SUMMED, Strength
from scopa_server.rules.record import Rules
from scopa_server.rules.value import value

Scopa: TypeAlias = tuple[int, int]
"""A sweep that counts: the value of its card, and the number of cards in it."""

ONE_POINT: Final[Scopa] = (1, 1)
"""A scopa worth one point whatever `scopa_value`."""


@value
class DealFacts:
    """What is on record of a finished deal, enough to count it again under other rules."""

    piles: tuple[tuple[Card, ...], ...]
    """By seat, leftovers included."""
    sweeps: tuple[Sweep, ...]
    declared: tuple[int, ...]
    """Points declared, by seat."""
    leftovers: tuple[int, tuple[Card, ...]] | None
    """Who got the cards left on the table, and which; their sweep is among the sweeps."""


@value
class SideCount:
    """What a side has after a deal, and the points it makes."""

    cards: int
    coins: int
    primiera: int | None
    """The sum, where primiera goes by one and the side has it."""
    scope: int
    """The number of sweeps that count."""
    points: Mapping[str, int]
    """By item, only those that scored."""
    total: int


@value
class Side:
    """What a side is counted by."""

    pile: int
    """Its cards, as `pile_of` writes them."""
    cards: int
    coins: int
    primiera: Strength
    scope: Sequence[Scopa]
    declared: int


def _majority(rules: Rules, strengths: Sequence[Strength]) -> list[int]:
    """Give a point to the strongest: alone, or each of them where ties score."""
    best = max(strengths)
    shared = strengths.count(best) > 1
    if not any(best) or (shared and rules.ties == "nobody"):
        return [0] * len(strengths)
    return [int(strength == best) for strength in strengths]


def _each(points: Callable[[Rules, Side], int]) -> Callable[[Rules, Sequence[Side]], list[int]]:
    return lambda rules, sides: [points(rules, side) for side in sides]


def _holding(text: str, worth: int = 1, when: str = "") -> Callable[[Rules, Side], int]:
    """Pay for holding all of some cards, where the field `when` is on."""
    cards = pile_of(parse(text))

    def points(rules: Rules, side: Side) -> int:
        held = side.pile & cards == cards
        return worth if held and (not when or getattr(rules, when)) else 0

    return points


SCOPA_VALUES: Final[Mapping[str, Callable[[int, int], int]]] = {
    "one": lambda _value, _cards: 1,
    "card": lambda value, _: value,
    "cards": lambda _, cards: cards,
}
"""What a scopa is worth, by `scopa_value`."""


def _scope(rules: Rules, side: Side) -> int:
    worth = SCOPA_VALUES[rules.scopa_value]
    return sum(worth(value, cards) for value, cards in side.scope)


NAPOLE: Final[Mapping[str, Callable[[Rules, int], int]]] = {
    "off": lambda _rules, _top: 0,
    "run": lambda rules, top: min(top, rules.napola_cap),
    "three": lambda _rules, _top: 3,
}
"""What an unbroken run of coins from the ace to this top is worth, by `napola`."""


def _napola(rules: Rules, side: Side) -> int:
    coins = suits_of(side.pile)[0]
    top = 0
    while coins >> top & 1:
        top += 1
    return NAPOLE[rules.napola](rules, top) if top >= 3 else 0


COUNTS: Final[Mapping[str, Callable[[Rules, Sequence[Side]], list[int]]]] = {
    "cards": lambda rules, sides: _majority(rules, [(side.cards,) for side in sides]),
    "coins": lambda rules, sides: _majority(rules, [(side.coins,) for side in sides]),
    "settebello": _each(_holding("7D")),
    "primiera": lambda rules, sides: _majority(rules, [side.primiera for side in sides]),
    "scope": _each(_scope),
    "napola": _each(_napola),
    "grande": _each(_holding("8D 9D 10D", worth=5, when="grande")),
    "re_bello": _each(_holding("10D", when="re_bello")),
    "settecoppe": _each(_holding("7C", when="settecoppe")),
    "all_sevens": _each(_holding("7D 7C 7S 7B", when="all_sevens")),
    "declarations": _each(lambda _, side: side.declared),
}
"""The items of the count: what each gives every side."""


def _side(rules: Rules, pile: Sequence[Card], scope: Sequence[Scopa], declared: int) -> Side:
    cards = pile_of(pile)
    return Side(
        pile=cards,
        cards=len(pile),
        coins=suits_of(cards)[0].bit_count(),
        primiera=PRIMIERE[rules.primiera](rules, cards),
        scope=scope,
        declared=declared,
    )


def _side_count(rules: Rules, side: Side, points: Mapping[str, int]) -> SideCount:
    summed = rules.primiera in SUMMED and any(side.primiera)
    return SideCount(
        cards=side.cards,
        coins=side.coins,
        primiera=side.primiera[0] if summed else None,
        scope=len(side.scope),
        points=points,
        total=sum(points.values()),
    )


def count(
    rules: Rules,
    piles_by_side: Sequence[Sequence[Card]],
    scope_by_side: Sequence[Sequence[Scopa]],
    declared_by_side: Sequence[int] | None = None,
) -> tuple[SideCount, ...]:
    """Count what the sides took, the sweeps that count and the points they declared."""
    declared = declared_by_side or [0] * len(piles_by_side)
    sides = [
        _side(rules, *taken) for taken in zip(piles_by_side, scope_by_side, declared, strict=True)
    ]
    points: list[dict[str, int]] = [{} for _ in sides]
    for item, count_item in COUNTS.items():
        for side, worth in enumerate(count_item(rules, sides)):
            if worth:
                points[side][item] = worth
    return tuple(
        _side_count(rules, side, scored) for side, scored in zip(sides, points, strict=True)
    )


def _scopa(sweep: Sweep) -> Scopa:
    return (sweep.value, sweep.cards) if sweep.kind == "capture" else ONE_POINT


def count_deal(rules: Rules, facts: DealFacts) -> tuple[SideCount, ...]:
    """Count a finished deal from its facts, under these rules (rulebook, Rescoring)."""
    sides = range(rules.sides)
    scope: list[list[Scopa]] = [[] for _ in sides]
    for sweep in facts.sweeps:
        if is_scopa(rules, sweep):
            scope[sweep.seat % rules.sides].append(_scopa(sweep))
    return count(
        rules,
        [tuple(chain(*facts.piles[side :: rules.sides])) for side in sides],
        scope,
        [sum(facts.declared[side :: rules.sides]) for side in sides],
    )


def facts(deal: Deal) -> DealFacts:
    """Take the facts of a deal whose last card is played."""
    done = finish(deal)
    return DealFacts(
        piles=done.piles,
        sweeps=done.sweeps,
        declared=declared_points(done),
        leftovers=leftovers(done),
    )

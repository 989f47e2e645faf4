"""How strong a pile is in primiera (rulebook, The count)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from scopa_server.rules.cards import SUIT, SUITS, VALUE, Card
from scopa_server.rules.record import Rules

Strength: TypeAlias = tuple[int, ...]
"""What sides compare for a majority; with nothing but zeros in it, a side never has one."""

SCALE: Final[Mapping[int, int]] = {
    7: 21,
    6: 18,
    1: 16,
    5: 15,
    4: 14,
    3: 13,
    2: 12,
    8: 10,
    9: 10,
    10: 10,
}
FACES_ZERO: Final[Mapping[int, int]] = {**SCALE, 8: 0, 9: 0, 10: 0}
RANKS: Final = (7, 6, 1, 5, 4, 3, 2, 10, 9, 8)


def _best(scale: Mapping[int, int]) -> Callable[[Rules, frozenset[Card]], Strength]:
    points = {card: scale[value] for card, value in VALUE.items()}

    def strength(rules: Rules, pile: frozenset[Card]) -> Strength:
        best = dict.fromkeys(SUITS, 0)
        for card in pile:
            best[SUIT[card]] = max(best[SUIT[card]], points[card])
        short = {SUIT[card] for card in pile} != set(SUITS)
        return () if short and rules.primiera_short == "out" else (sum(best.values()),)

    return strength


def _most(ranks: Sequence[int]) -> Callable[[Rules, frozenset[Card]], Strength]:
    # Tied at one rank, sides go on to the next: tuples compare just so.
    def strength(_: Rules, pile: frozenset[Card]) -> Strength:
        values = [VALUE[card] for card in pile]
        return tuple(values.count(rank) for rank in ranks)

    return strength


def _off(_rules: Rules, _pile: frozenset[Card]) -> Strength:
    return ()


PRIMIERE: Final[Mapping[str, Callable[[Rules, frozenset[Card]], Strength]]] = {
    "scale": _best(SCALE),
    "faces_zero": _best(FACES_ZERO),
    "sevens": _most(RANKS),
    "sevens_sixes": _most(RANKS[:2]),
    "off": _off,
}
"""How strong a pile is in primiera, by `primiera`."""

SUMMED: Final = frozenset({"scale", "faces_zero"})
"""The values of `primiera` that compare one sum."""

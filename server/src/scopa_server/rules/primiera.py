"""How strong a pile is in primiera (rulebook, The count)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from scopa_server.rules.cards import VALUE, pile_of, suits_of
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


def _best(scale: Mapping[int, int]) -> Callable[[Rules, int], Strength]:
    # For every set of cards of one suit, worked out once.
    best = [0] * 1024
    for suit in range(1, 1024):
        top = suit.bit_length()
        best[suit] = max(scale[top], best[suit & ~(1 << top - 1)])

    def strength(rules: Rules, pile: int) -> Strength:
        suits = suits_of(pile)
        if rules.primiera_short == "out" and not all(suits):
            return ()
        return (sum([best[suit] for suit in suits]),)

    return strength


def _most(ranks: Sequence[int]) -> Callable[[Rules, int], Strength]:
    # Tied at one rank, sides go on to the next: tuples compare just so.
    cards = [pile_of(card for card, value in VALUE.items() if value == rank) for rank in ranks]

    def strength(_: Rules, pile: int) -> Strength:
        return tuple([(pile & rank).bit_count() for rank in cards])

    return strength


def _off(_rules: Rules, _pile: int) -> Strength:
    return ()


PRIMIERE: Final[Mapping[str, Callable[[Rules, int], Strength]]] = {
    "scale": _best(SCALE),
    "faces_zero": _best(FACES_ZERO),
    "sevens": _most(RANKS),
    "sevens_sixes": _most(RANKS[:2]),
    "off": _off,
}
"""How strong a pile, as `pile_of` writes it, is in primiera, by `primiera`."""

SUMMED: Final = frozenset({"scale", "faces_zero"})
"""The values of `primiera` that compare one sum."""

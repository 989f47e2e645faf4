"""Cards, written as value and suit: "7D" is the settebello (rulebook, Words)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

Card: TypeAlias = str

SUITS: Final[tuple[str, ...]] = ("D", "C", "S", "B")
"""Denari, coppe, spade, bastoni."""

DECK: Final[tuple[Card, ...]] = tuple(f"{value}{suit}" for suit in SUITS for value in range(1, 11))
"""The 40 cards, suit by suit and each from its ace up."""

VALUE: Final[Mapping[Card, int]] = {card: int(card[:-1]) for card in DECK}
SUIT: Final[Mapping[Card, str]] = {card: card[-1] for card in DECK}

MATTA: Final[Card] = "7C"
"""The card that may stand for another value (rulebook, Cirulla's declarations)."""

VALUES: Final[Mapping[int | None, Mapping[Card, int]]] = {
    None: VALUE,
    **{named: {**VALUE, MATTA: named} for named in range(1, 11)},
}
"""What every card is worth in play, by the value named for the matta (None: its own)."""

COUNTED: Final[Mapping[int | None, Callable[[Card], int]]] = {
    named: {card: 1 << 4 * value for card, value in worth.items()}.__getitem__
    for named, worth in VALUES.items()
}
"""The same as a one among the four bits of its value: added up they count every value's cards."""

BIT: Final[Mapping[Card, int]] = {card: 1 << place for place, card in enumerate(DECK)}
"""Each card as one bit: a suit's ten lie side by side, its ace lowest."""


def pile_of(cards: Iterable[Card]) -> int:
    """Write a set of cards as one number: the bit of each that is in it."""
    return sum(map(BIT.__getitem__, cards))


def suits_of(pile: int) -> tuple[int, ...]:
    """Split a pile by suit: ten bits each, the ace lowest."""
    return pile & 1023, pile >> 10 & 1023, pile >> 20 & 1023, pile >> 30


def parse(text: str) -> tuple[Card, ...]:
    """Read cards from text such as "7D 3C"; ValueError on anything that is no card."""
    cards = tuple(text.split())
    for card in cards:
        if card not in VALUE:
            raise ValueError(f"not a card: {card!r}")
    return cards

"""Cards as they are written on the wire: value 1-10, then suit, as in `7D`."""

from typing import Annotated, Final, TypeAlias

from msgspec import Meta

SUITS: Final = "DCSB"

# A `$` alone would also match before a trailing newline.
Card: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^(10|[1-9])[DCSB](?!\n)$",
        description="value 1-10, then D coins, C cups, S swords or B clubs",
    ),
]


def value(card: str) -> int:
    """Value of a card, 1-10."""
    return int(card[:-1])


def suit(card: str) -> str:
    """Suit letter of a card: D, C, S or B."""
    return card[-1]


def display_order(cards: list[str]) -> list[str]:
    """Cards sorted as a hand is held: by suit, then by value."""
    return sorted(cards, key=lambda card: (SUITS.index(suit(card)), value(card)))

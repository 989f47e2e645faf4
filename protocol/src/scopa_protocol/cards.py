"""Cards as they are written on the wire: value 1-10, then suit, as in `7D`."""

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta

SUITS: Final = "DCSB"

# A `$` alone would also match before a trailing newline.
CARD_PATTERN: Final = r"^(10|[1-9])[DCSB](?!\n)$"

if TYPE_CHECKING:
    Card: TypeAlias = str
else:
    # The pattern means the same forty; matching it was most of what reading a play took.
    _Forty = Literal[tuple(f"{value}{suit}" for suit in SUITS for value in range(1, 11))]
    _Words = "value 1-10, then D coins, C cups, S swords or B clubs"
    Card = Annotated[_Forty, Meta(description=_Words)]


def value(card: str) -> int:
    """Value of a card, 1-10."""
    return int(card[:-1])


def suit(card: str) -> str:
    """Suit letter of a card: D, C, S or B."""
    return card[-1]


def display_order(cards: list[str]) -> list[str]:
    """Cards sorted as a hand is held: by suit, then by value."""
    return sorted(cards, key=lambda card: (SUITS.index(suit(card)), value(card)))

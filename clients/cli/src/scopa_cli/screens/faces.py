"""How a card looks in the deck that the table plays with. Its text form always stays readable."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from scopa_cli.lines import Line, Span, Style, joined, line
from scopa_protocol.cards import display_order, suit, value
from scopa_protocol.rules import Deck
from scopa_protocol.views import View

ITALIAN_SUITS: Final = {"D": "denari", "C": "coppe", "S": "spade", "B": "bastoni"}
FRENCH_SUITS: Final = {"D": "diamonds", "C": "hearts", "S": "spades", "B": "clubs"}
SYMBOLS: Final = {"D": "♦", "C": "♥", "S": "♠", "B": "♣"}
NAMES: Final[dict[Deck, tuple[str, str, str]]] = {
    "italian": ("fante", "cavallo", "re"),
    "french": ("jack", "queen", "king"),
    "french_pips": ("8", "9", "10"),
    "tunisian": ("queen", "jack", "king"),
}
LETTERS: Final[dict[Deck, str]] = {"french": "JQK", "tunisian": "QJK"}
ITALIAN_STYLES: Final[dict[str, Style]] = {
    "D": "denari",
    "C": "coppe",
    "S": "spade",
    "B": "bastoni",
}
FRENCH_STYLES: Final[dict[str, Style]] = {"D": "red", "C": "red", "S": "black", "B": "black"}


class Faces(Struct, frozen=True):
    """A deck's way to show cards; `matta` is the value that 7C stands for now."""

    deck: Deck
    matta: int | None = None

    def short(self, card: str) -> Span:
        """A card in as few letters as can be: `7D`, in a French deck `7D♦` and `10S♠K`."""
        mark = f"={self.matta}" if self.matta and card == "7C" else ""
        if self.deck == "italian":
            return Span(card + mark, ITALIAN_STYLES[suit(card)])
        letters = LETTERS.get(self.deck)
        face = letters[value(card) - 8] if letters and value(card) >= 8 else ""
        return Span(f"{card}{SYMBOLS[suit(card)]}{face}{mark}", FRENCH_STYLES[suit(card)])

    def row(self, cards: Iterable[str], between: str = "  ") -> Line:
        """Cards side by side, in the order they come."""
        return joined(((self.short(card),) for card in cards), between)

    def set(self, cards: Iterable[str]) -> Line:
        """Cards that have no order of their own, sorted."""
        return self.row(display_order(list(cards)), " ")

    def name(self, card: str) -> str:
        """A card in words: `7 di denari`, `king of spades`; the matta with what it stands for."""
        if self.matta and card == "7C":
            return f"{self._name(card)} = {self.matta}"
        return self._name(card)

    def _name(self, card: str) -> str:
        number = value(card)
        if self.deck == "italian":
            rank = NAMES["italian"][number - 8] if number >= 8 else _ace(number, "asso")
            return f"{rank} di {ITALIAN_SUITS[suit(card)]}"
        rank = NAMES[self.deck][number - 8] if number >= 8 else _ace(number, "ace")
        return f"{rank} of {FRENCH_SUITS[suit(card)]}"

    def suits(self) -> Line:
        """Which letter is which suit."""
        names = ITALIAN_SUITS if self.deck == "italian" else FRENCH_SUITS
        styles = ITALIAN_STYLES if self.deck == "italian" else FRENCH_STYLES
        parts = [line(Span(letter, styles[letter]), f" {name}") for letter, name in names.items()]
        return joined(parts, ", ")


def _ace(number: int, word: str) -> str:
    return word if number == 1 else str(number)


def faces(view: View) -> Faces:
    """The faces of a view's cards."""
    return Faces(view.rules.deck, view.matta.value if view.matta else None)

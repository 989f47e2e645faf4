"""Cards as they are written."""

import msgspec
import pytest

from scopa_protocol.cards import Card, display_order, suit, value
from support.wire import DECK

READ = msgspec.json.Decoder(list[Card])


def test_all_forty_cards_are_cards() -> None:
    assert READ.decode(msgspec.json.encode(DECK)) == DECK
    assert len(set(DECK)) == 40


@pytest.mark.parametrize(
    "text", ["", "D", "0D", "11D", "07D", "7d", "7E", "7D ", " 7D", "7D\n", "1010D", "-1D", "7DD"]
)
def test_anything_else_is_none(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        READ.decode(msgspec.json.encode([text]))


@pytest.mark.parametrize(("card", "number", "letter"), [("7D", 7, "D"), ("10B", 10, "B")])
def test_value_and_suit(card: str, number: int, letter: str) -> None:
    assert (value(card), suit(card)) == (number, letter)


def test_a_hand_is_held_by_suit_then_value() -> None:
    assert display_order(["10B", "2D", "7S", "10D", "1C"]) == ["2D", "10D", "1C", "7S", "10B"]

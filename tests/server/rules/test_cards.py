"""The deck and its text form."""

import pytest

from scopa_server.rules.cards import DECK, SUIT, SUITS, VALUE, VALUES, parse


def test_deck_is_forty_cards() -> None:
    assert len(DECK) == len(set(DECK)) == 40
    assert {(VALUE[card], SUIT[card]) for card in DECK} == {
        (value, suit) for value in range(1, 11) for suit in SUITS
    }


def test_cards_are_written_value_then_suit() -> None:
    assert VALUE["7D"] == 7
    assert VALUE["10S"] == 10
    assert SUIT["10S"] == "S"


def test_matta_named_changes_seven_of_cups_alone() -> None:
    assert VALUES[None]["7C"] == 7
    assert VALUES[3]["7C"] == 3
    assert {card for card in DECK if VALUES[3][card] != VALUE[card]} == {"7C"}


def test_parse() -> None:
    assert parse("7D 10S") == ("7D", "10S")
    assert parse("") == ()


@pytest.mark.parametrize("text", ["11D", "7X", "7d", "0D", "7D,3C"])
def test_parse_refuses_what_is_no_card(text: str) -> None:
    with pytest.raises(ValueError, match="not a card"):
        parse(text)

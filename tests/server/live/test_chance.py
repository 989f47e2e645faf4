"""Decks are shuffled fairly, by what is drawn alone."""

import random
import secrets
import struct
from collections import Counter
from collections.abc import Sequence
from itertools import islice

import pytest

from scopa_server.live.chance import shuffles
from scopa_server.rules.cards import DECK

CARDS = len(DECK)


def draw(monkeypatch: pytest.MonkeyPatch, *draws: Sequence[int]) -> None:
    """Let this be drawn, for a deck as often as it takes and then for its salt."""
    ahead = [struct.pack(f"{CARDS}Q", *places) for places in draws]
    monkeypatch.setattr(secrets, "token_bytes", lambda _: ahead.pop(0))


def test_the_deck_is_in_the_order_of_the_places_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    last_first = [2**64 - 1 - place for place in range(CARDS)]
    draw(monkeypatch, last_first, range(CARDS))
    assert next(shuffles()).deck == tuple(reversed(DECK))


def test_places_are_drawn_again_should_two_be_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = [*range(CARDS, 1, -1), 2]
    draw(monkeypatch, twice, twice, range(CARDS), range(CARDS))
    assert next(shuffles()).deck == DECK


def test_every_card_comes_to_every_place_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "token_bytes", random.Random(1).randbytes)
    decks = [shuffle.deck for shuffle in islice(shuffles(), 100 * CARDS)]
    assert {frozenset(deck) for deck in decks} == {frozenset(DECK)}
    came = Counter((card, place) for deck in decks for place, card in enumerate(deck))
    chi_square = (
        sum((came[card, place] - 100) ** 2 for card in DECK for place in range(CARDS)) / 100
    )
    # 39 · 39 degrees of freedom: 1521, give or take 55.
    assert 1300 < chi_square < 1750


def test_no_two_shuffles_have_the_same_salt() -> None:
    salts = [shuffle.salt for shuffle in islice(shuffles(), 100)]
    assert {len(bytes.fromhex(salt)) for salt in salts} == {32}
    assert len(set(salts)) == len(salts)

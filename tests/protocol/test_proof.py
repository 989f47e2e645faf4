"""What a commitment and a deck say about the deal that was played."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from scopa_protocol.history import HistoryDeal, ShownCard
from scopa_protocol.proof import commitment, deal_out, faults
from scopa_protocol.rules import Rules
from scopa_protocol.views import Proof
from support import records
from support.records import a_deal, refused
from support.wire import DECK


def test_the_commitment_is_the_hash_of_salt_and_deck() -> None:
    # (head -c 32 /dev/zero; printf abc) | sha256sum
    known = "365aa7d8f7f9402c4b9434502b4cc89ddb09fe50d7cd95b493b834c62d5a5370"
    assert commitment(Proof(salt="00" * 32, deck="abc")) == known
    deal = a_deal()
    assert commitment(deal.proof) == records.commitment(deal)


@pytest.mark.parametrize(
    "proof",
    [
        Proof(salt="", deck="1D"),
        Proof(salt="00", deck="1D"),
        Proof(salt="no", deck="1D"),
        Proof(salt="00" * 32, deck="1D\xe9"),
    ],
)
def test_what_is_no_proof_has_no_commitment(proof: Proof) -> None:
    assert commitment(proof) is None


@pytest.mark.parametrize(("players", "sides"), [(2, 2), (3, 3), (4, 2), (5, 5), (6, 2)])
@pytest.mark.parametrize("hand", [1, 3, 5, 6])
@pytest.mark.parametrize("seed", range(3))
def test_real_deals_follow_from_their_decks(players: int, sides: int, hand: int, seed: int) -> None:
    assert faults(a_deal(players=players, sides=sides, hand=hand, seed=seed)) == []


@pytest.mark.parametrize("variant", ["scopone", "scopone_scientifico"])
def test_so_do_those_of_one_batch(variant: str) -> None:
    assert faults(a_deal(variant)) == []


def test_a_refused_first_card_opens_the_table() -> None:
    layout = deal_out(DECK, Rules(players=2), 1, first_laid=True)
    assert layout.table == ["1D", "8D", "9D", "10D"]
    assert layout.hands[0] == [["2D", "4D", "6D"], ["3D", "5D", "7D"]]
    assert layout.hands[1][0][0] == "1C"
    assert faults(refused(a_deal())) == []


def test_a_first_card_that_was_kept_is_the_decks_first() -> None:
    deal = a_deal()
    first = ShownCard(seat=0, card=deal.proof.deck.split(",")[0], kept=True)
    assert faults(structs.replace(deal, first_card=first)) == []
    other = structs.replace(first, card=deal.table[0])
    assert faults(structs.replace(deal, first_card=other)) == [
        f"{deal.table[0]} isn't its first card"
    ]


def test_a_void_deal_is_checked_as_far_as_it_was_dealt() -> None:
    deal = a_deal()
    void = structs.replace(deal, void=True, deals=deal.deals[:1], plays=[], count=None)
    assert faults(void) == []
    assert faults(structs.replace(void, void=False)) == [
        "1 batches are recorded, that deck gives 6"
    ]


DEAL = a_deal()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"table": DEAL.table[1:]}, "the opening table isn't what that deck gives"),
        ({"deals": [DEAL.deals[0][::-1], *DEAL.deals[1:]]}, "in batch 1 seat 0 doesn't hold"),
        ({"deals": [DEAL.deals[0][:1], *DEAL.deals[1:]]}, "in batch 1 seat 1 doesn't hold"),
        ({"plays": DEAL.plays[:-1]}, "didn't play what it was dealt"),
        ({"plays": [*DEAL.plays, (7, "1D", [], False)]}, "seat 7 didn't play"),
        ({"proof": Proof(salt=DEAL.proof.salt, deck="1D,2D")}, "the deck isn't the 40 cards"),
        ({"rules": Rules(players=6, sides=6, hand=7)}, "there aren't so many cards to deal"),
    ],
)
def test_what_does_not_follow_is_told(changes: dict[str, Any], words: str) -> None:
    assert any(words in fault for fault in faults(structs.replace(DEAL, **changes)))


@given(st.data())
def test_any_two_cards_changed_are_seen(data: st.DataObject) -> None:
    first, second = data.draw(st.lists(st.integers(0, 39), min_size=2, max_size=2, unique=True))
    assert faults(swapped(DEAL, first, second)) or same_hand(DEAL, first, second)


def swapped(deal: HistoryDeal, first: int, second: int) -> HistoryDeal:
    """The same with two of its deck's cards exchanged."""
    deck = deal.proof.deck.split(",")
    deck[first], deck[second] = deck[second], deck[first]
    return structs.replace(deal, proof=Proof(salt=deal.proof.salt, deck=",".join(deck)))


def same_hand(deal: HistoryDeal, first: int, second: int) -> bool:
    """Whether two cards came to the same place, where their order doesn't show."""
    deck = deal.proof.deck.split(",")
    places = [*(hand for hands in deal.deals for hand in hands), deal.table]
    return any(deck[first] in place and deck[second] in place for place in places)

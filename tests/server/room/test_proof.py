"""Void deals, and the proof of the shuffle."""

import hashlib
import random
from itertools import chain

import pytest

from scopa_protocol import commands as c
from scopa_protocol import events as told
from scopa_protocol.views import Proof
from scopa_server.rules.cards import DECK
from support.tables import Table, duel, heard, shuffles, stack, stacked


def verifies(commitment: str | None, proof: Proof) -> bool:
    """What a client checks (protocol, Proof of the shuffle)."""
    hashed = hashlib.sha256(bytes.fromhex(proof.salt) + proof.deck.encode("ascii"))
    return hashed.hexdigest() == commitment


VOID = "2D 3D 5S 6S 7S 8S 10D 10C 10S 4B"


def test_a_void_deal_is_shown_whole_and_uses_a_number() -> None:
    table = duel()
    void, good = stacked(VOID, 1), stacked("2D 3D 5S 6S 7S 8S 2C 3C 10B 4B", 2)
    stack(table, void, void, good)
    table.fill()
    before = table.room
    events = table.do(0, c.Start())
    said = [item for _, item in heard(before, events, 0) if isinstance(item, told.DealVoided)]
    assert [item.deal for item in said] == [1, 2]
    for item in said:
        assert item.table == ["10D", "10C", "10S", "4B"]
        assert item.hands == [["2D", "5S", "7S"], ["3D", "6S", "8S"]]
        assert item.proof == Proof(salt=void.salt, deck=",".join(void.deck))
    view = table.view(0)
    assert (view.deal, view.dealer, view.hand) == (3, 1, ["2D", "5S", "7S"])
    assert verifies(view.commitment, Proof(salt=good.salt, deck=",".join(good.deck)))


def test_a_void_deal_may_pass_the_deal_on() -> None:
    table = duel(void_dealer="next")
    void, good = stacked(VOID, 1), stacked("2D 3D 5S 6S 7S 8S 2C 3C 10B 4B", 2)
    stack(table, void, good)
    table.start()
    assert (table.view(0).deal, table.view(0).dealer) == (2, 0)


def test_a_void_deal_between_deals_was_committed_to() -> None:
    table = duel(target=50).fill()
    void, good = stacked(VOID, 1), stacked("2D 3D 5S 6S 7S 8S 2C 3C 10B 4B", 2)
    table.shuffles = chain([stacked("10D 1D"), good, void, good], shuffles(3))
    table.do(0, c.Start())
    table.deal_out(random.Random(1))
    commitment = table.view(0).commitment
    ready = c.Ready(deal=1)
    table.do(0, ready)
    before = table.room
    events = table.do(1, ready)
    said = [item for _, item in heard(before, events, 0) if isinstance(item, told.DealVoided)]
    assert len(said) == 1
    assert verifies(commitment, said[0].proof)
    assert table.view(0).deal == 3
    assert table.view(0).dealer == 0
    assert table.do(0, ready) == ()


@pytest.mark.parametrize("variant", ["scopa", "scopone", "scopone_scientifico"])
def test_every_deal_was_committed_to(variant: str) -> None:
    chance = random.Random(2)
    table = Table(seed=7, variant=variant, target=5).start()
    commitment = table.view(None).commitment
    assert commitment is not None
    while table.phase() != "match_over":
        table.step(chance)
        view = table.view(chance.choice([None, 0, 1]))
        if table.phase() == "playing":
            assert view.commitment == commitment
            continue
        assert view.count is not None
        assert verifies(commitment, view.count.proof)
        assert not verifies(view.commitment, view.count.proof)
        commitment = view.commitment


def test_a_client_can_deal_the_proof_again() -> None:
    table = duel(target=50).start()
    hand, lying, dealer = table.view(0).hand, table.view(0).table, table.room.dealer
    table.deal_out(random.Random(1))
    count = table.view(0).count
    assert count is not None
    assert dealer is not None
    deck = count.proof.deck.split(",")
    assert sorted(deck) == sorted(DECK)
    first = (dealer + 1) % 2
    assert hand == deck[(0 - first) % 2 : 6 : 2]
    assert lying == deck[6:10]

"""Dealing, playing and finishing a deal."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scopa_server.rules.cards import DECK, Card, parse
from scopa_server.rules.deal import (
    Deal,
    Named,
    begin,
    draw_dealer,
    finish,
    is_over,
    is_scopa,
    is_void,
    leader,
    leftovers,
    needs_batch,
    next_batch,
    next_dealer,
    outcome,
    play,
    shape,
)
from scopa_server.rules.record import Rules, build
from support import vectors
from support.games import any_rules, random_deal

SEEDS = st.integers(0, 2**32).map(random.Random)


def position(
    rules: Rules,
    table: str,
    *hands: str,
    last_taker: int | None = None,
    stock: int = 0,
    matta: int | None = None,
) -> Deal:
    """Stage a deal in which seat 0 is to play."""
    blank = begin(rules, rules.players - 1, DECK)
    return replace(
        blank,
        hands=tuple(map(parse, hands)),
        table=parse(table),
        last_taker=last_taker,
        stock=stock,
        matta=None if matta is None else Named(value=matta, seat=0),
    )


@pytest.mark.parametrize("case", vectors.load("setup"))
def test_shape_vectors(case: dict[str, int]) -> None:
    assert shape(case["players"], case["hand"]) == (case["table"], case["batches"])


@pytest.mark.parametrize("case", vectors.load("plays"), ids=vectors.name)
def test_play_vectors(case: dict[str, Any]) -> None:
    rules = build(case["variant"], case["rules"])
    other = "" if case["last_card_of_deal"] else "10B"
    deal = position(rules, " ".join(case["table"]), case["card"], other, matta=case["matta"])
    fact = outcome(deal, case["card"], case["take"])
    assert fact.scopa == case["scopa"]
    assert fact.to_pile == bool(case["take"])
    assert (fact.sweep is not None) == (bool(case["take"]) and case["take"] == case["table"])


# Dealing


def test_cards_go_round_from_the_leader_and_then_to_the_table() -> None:
    deal = begin(build("scopa", {"players": 3}), 1, DECK)
    assert deal.to_play == leader(deal.rules, 1) == 2
    assert deal.hands[2] == (DECK[0], DECK[3], DECK[6])
    assert deal.hands[0] == (DECK[1], DECK[4], DECK[7])
    assert deal.hands[1] == (DECK[2], DECK[5], DECK[8])
    assert deal.table == DECK[9:13]
    assert (deal.stock, deal.batch, deal.turn) == (27, 1, 1)


def test_next_batch_goes_round_from_the_same_leader() -> None:
    deal = begin(build("scopa", {}), 0, DECK)
    assert not needs_batch(deal)
    played_out = replace(deal, hands=((), ()), table=parse("1D"), turn=7)
    assert needs_batch(played_out)
    assert not is_over(played_out)
    dealt = next_batch(played_out)
    assert dealt.hands == ((DECK[11], DECK[13], DECK[15]), (DECK[10], DECK[12], DECK[14]))
    assert dealt.table == parse("1D")
    assert (dealt.stock, dealt.batch, dealt.turn, dealt.to_play) == (24, 2, 7, 1)


def test_scientifico_deals_everything_at_once() -> None:
    deal = begin(build("scopone_scientifico", {}), 3, DECK)
    assert deal.table == ()
    assert deal.stock == 0
    assert [len(hand) for hand in deal.hands] == [10] * 4


@pytest.mark.parametrize(
    ("void_deal", "table", "void"),
    [
        ("three_kings", "10D 10C 10S 1B", True),
        ("three_kings", "10D 10C 10S 10B", True),
        ("three_kings", "10D 10C 9S 1B", False),
        ("two_aces", "1D 1S 10D 2C", True),
        ("two_aces", "1D 1S 1C 2C", True),
        ("two_aces", "1D 10S 10D 10C", False),
        ("never", "10D 10C 10S 10B", False),
        ("never", "", False),
        ("three_kings", "", False),
    ],
)
def test_void(void_deal: str, table: str, void: bool) -> None:
    assert is_void(build("scopa", {"void_deal": void_deal}), parse(table)) == void


@pytest.mark.parametrize(
    "case",
    [case for case in vectors.load("cirulla")["opening"] if "7C" not in case["table"]],
)
def test_void_vectors(case: dict[str, Any]) -> None:
    assert is_void(build("cirulla", {}), case["table"]) == case["void"]


def test_deal_moves_on_but_a_void_one_only_where_it_passes() -> None:
    scopa, passing = build("scopa", {"players": 3}), build("scopa", {"void_dealer": "next"})
    assert next_dealer(scopa, 2, voided=False) == 0
    assert next_dealer(scopa, 2, voided=True) == 2
    assert next_dealer(passing, 1, voided=True) == 0


def test_lowest_card_deals() -> None:
    draws, dealer = draw_dealer(3, iter([parse("5D 2C 10S 1B")]))
    assert draws == [(0, "5D"), (1, "2C"), (2, "10S")]
    assert dealer == 1


def test_seats_tied_lowest_draw_again_from_another_deck() -> None:
    decks = [parse("2D 5C 2S 2B"), parse("4D 3C 3S 1D"), parse("1D 7C")]
    draws, dealer = draw_dealer(4, iter(decks))
    assert draws == [
        *[(0, "2D"), (1, "5C"), (2, "2S"), (3, "2B")],
        *[(0, "4D"), (2, "3C"), (3, "3S")],
        *[(2, "1D"), (3, "7C")],
    ]
    assert dealer == 2


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 6), SEEDS)
def test_dealer_is_drawn_from_the_last_round(players: int, chance: random.Random) -> None:
    def decks() -> Iterator[list[Card]]:
        while True:
            yield chance.sample(DECK, 40)

    draws, dealer = draw_dealer(players, decks())
    assert [seat for seat, _ in draws[:players]] == list(range(players))
    last = {seat: int(card[:-1]) for seat, card in draws}
    assert 0 <= dealer < players
    assert list(last.values()).count(last[dealer]) >= 1
    assert [seat for seat, _ in draws].count(dealer) == max(
        [seat for seat, _ in draws].count(seat) for seat in range(players)
    )


# Playing


def test_capture_goes_to_the_pile() -> None:
    deal = position(build("scopa", {}), "2D 4C 9B", "6S 1D", "10B 3D", stock=6)
    after = play(deal, outcome(deal, "6S", parse("2D 4C")))
    assert after.piles == (parse("6S 2D 4C"), ())
    assert after.table == parse("9B")
    assert after.hands == (parse("1D"), parse("10B 3D"))
    assert (after.last_taker, after.to_play, after.turn) == (0, 1, 2)
    assert after.sweeps == ()


def test_card_that_takes_nothing_stays() -> None:
    deal = position(build("scopa", {}), "9B", "6S", "10B", last_taker=1, stock=6)
    after = play(deal, outcome(deal, "6S", ()))
    assert after.table == parse("9B 6S")
    assert after.piles == ((), ())
    assert after.last_taker == 1


def test_sweep_is_on_record_whether_or_not_it_counts() -> None:
    rules = build("scopa_dassi", {})
    deal = position(rules, "9B 3C", "1S", "10B", stock=6)
    fact = outcome(deal, "1S", parse("9B 3C"))
    assert not fact.scopa
    assert fact.sweep is not None
    assert (fact.sweep.seat, fact.sweep.value, fact.sweep.cards, fact.sweep.card) == (0, 1, 3, "1S")
    assert fact.sweep.by_ace
    assert not fact.sweep.last_card
    assert play(deal, fact).sweeps == (fact.sweep,)
    assert is_scopa(build("asso_piglia_tutto", {}), fact.sweep)


@pytest.mark.parametrize(
    ("variant", "table", "by_ace"),
    [
        ("scopa_dassi", "1D", False),
        ("scopa_dassi", "10D 4C", True),
        ("cirulla", "10D 4C", False),
        ("cirulla", "10D 3C", True),
        ("scopa", "1D", False),
    ],
)
def test_only_what_nothing_but_the_ace_takes_is_by_ace(
    variant: str, table: str, by_ace: bool
) -> None:
    deal = position(build(variant, {}), table, "1S", "10B")
    sweep = outcome(deal, "1S", parse(table)).sweep
    assert sweep is not None
    assert sweep.by_ace == by_ace


def test_ace_takes_itself_as_a_capture_but_no_scopa() -> None:
    rules = build("asso_piglia_tutto", {"ace_on_empty": "takes_itself"})
    deal = position(rules, "", "1S", "10B", last_taker=1)
    after = play(deal, outcome(deal, "1S", ()))
    assert after.piles == (parse("1S"), ())
    assert after.table == ()
    assert after.last_taker == 0
    assert after.sweeps == ()


def test_ace_laid_beside_other_cards_stays() -> None:
    overrides = {"ace_on_empty": "takes_itself", "must_capture": False}
    deal = position(build("asso_piglia_tutto", overrides), "9D", "1S", "10B")
    assert not outcome(deal, "1S", ()).to_pile


def test_ace_stays_on_an_empty_table_by_default() -> None:
    deal = position(build("asso_piglia_tutto", {}), "", "1S", "10B")
    assert play(deal, outcome(deal, "1S", ())).table == parse("1S")


def test_recorded_play_is_not_decided_again() -> None:
    deal = position(build("scopa", {}), "6D", "6S", "10B")
    fact = replace(outcome(deal, "6S", parse("6D")), scopa=False, sweep=None, auto=True)
    after = play(deal, fact)
    assert after.plays == (fact,)
    assert after.sweeps == ()


def test_last_card_is_the_deal_s_and_not_a_hand_s() -> None:
    rules = build("scopa", {})
    last_of_batch = position(rules, "6D", "6S", "", stock=6)
    last_of_hand = position(rules, "6D", "6S", "10B")
    last_of_deal = position(rules, "6D", "6S", "")
    assert outcome(last_of_batch, "6S", ("6D",)).scopa
    assert outcome(last_of_hand, "6S", ("6D",)).scopa
    fact = outcome(last_of_deal, "6S", ("6D",))
    assert not fact.scopa
    assert fact.sweep is not None
    assert fact.sweep.last_card


def test_nobody_plays_when_it_is_over() -> None:
    deal = position(build("scopa", {}), "6D", "6S", "", last_taker=1)
    over = play(deal, outcome(deal, "6S", ("6D",)))
    assert is_over(over)
    assert over.to_play is None
    assert over.turn == deal.turn
    with pytest.raises(ValueError, match="over"):
        outcome(over, "6S", ())


# Finishing


def test_leftovers_go_to_the_last_taker() -> None:
    deal = position(build("scopa", {}), "9D 3C", "1S", "", last_taker=1)
    assert leftovers(deal) is None
    deal = replace(deal, piles=((), parse("2D 2C 7S 7B")))
    over = play(deal, outcome(deal, "1S", ()))
    assert leftovers(over) == (1, parse("9D 3C 1S"))
    done = finish(over)
    assert done.table == ()
    assert done.piles == ((), parse("2D 2C 7S 7B 9D 3C 1S"))
    assert done.sweeps[-1].kind == "leftovers"
    assert leftovers(done) == leftovers(over)
    assert finish(done) == done


@pytest.mark.parametrize("counts", [False, True])
def test_leftovers_are_a_scopa_only_where_they_count(counts: bool) -> None:
    rules = build("scopa", {"leftovers_scopa": counts})
    deal = position(rules, "9D", "1S", "", last_taker=1)
    done = finish(play(deal, outcome(deal, "1S", ())))
    assert is_scopa(rules, done.sweeps[-1]) == counts


def test_nobody_gets_them_if_nobody_captured() -> None:
    deal = position(build("scopa", {"must_capture": False}), "1D", "1S", "")
    over = play(deal, outcome(deal, "1S", ()))
    assert leftovers(over) is None
    assert finish(over) == over


def test_no_leftovers_after_a_last_sweep() -> None:
    deal = position(build("scopa", {}), "6D", "6S", "")
    over = play(deal, outcome(deal, "6S", ("6D",)))
    assert leftovers(over) is None
    assert finish(over).sweeps == over.sweeps


# Whole deals


@settings(max_examples=60, deadline=None)
@given(any_rules(), SEEDS)
def test_every_card_is_in_one_place_through_any_deal(rules: Rules, chance: random.Random) -> None:
    opening, batches = shape(rules.players, rules.hand)
    turns, deal = 0, None
    for deal in random_deal(rules, chance):
        stock = deal.deck[40 - deal.stock :]
        places = [*deal.hands, deal.table, *deal.piles, stock]
        assert sorted(card for place in places for card in place) == sorted(DECK)
        assert deal.turn == min(len(deal.plays) + 1, 40 - opening)
        turns += 1
    assert deal is not None
    assert is_over(deal)
    assert deal.batch == batches
    assert len(deal.plays) == 40 - opening == turns - batches
    assert [fact.seat for fact in deal.plays] == [
        (deal.dealer + 1 + turn) % rules.players for turn in range(40 - opening)
    ]
    assert deal.plays[-1].seat == deal.dealer


@settings(max_examples=60, deadline=None)
@given(any_rules(), SEEDS)
def test_sweeps_are_the_plays_that_emptied_the_table(rules: Rules, chance: random.Random) -> None:
    before, *deals = random_deal(rules, chance)
    opened = before.last_taker
    for after in deals:
        if len(after.plays) > len(before.plays):
            fact = after.plays[-1]
            swept = bool(before.table) and not after.table
            assert (fact.sweep is not None) == swept
            assert len(after.sweeps) - len(before.sweeps) == swept
            assert fact.scopa <= swept
        before = after
    done = finish(before)
    takers = [fact.seat for fact in done.plays if fact.to_pile]
    assert done.last_taker == (takers[-1] if takers else opened)
    assert not done.table or done.last_taker is None
    assert sum(map(len, done.piles)) + len(done.table) == 40


@settings(max_examples=60, deadline=None)
@given(any_rules(), SEEDS)
def test_piles_are_what_the_plays_say(rules: Rules, chance: random.Random) -> None:
    first, *_, over = random_deal(rules, chance)
    for seat, pile in enumerate(over.piles):
        facts = [fact for fact in over.plays if fact.seat == seat and fact.to_pile]
        taken = tuple(card for fact in facts for card in (fact.card, *fact.take))
        assert pile == first.piles[seat] + taken

"""What a hand may declare, by the vectors and by a reading of its own of the rulebook's words."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from scopa_server.rules.captures import check, options
from scopa_server.rules.cards import DECK, parse
from scopa_server.rules.count import count_deal, facts
from scopa_server.rules.deal import Deal, begin, finish, needs_batch, next_batch, play
from scopa_server.rules.deal import outcome as played
from scopa_server.rules.declare import (
    Declaration,
    declarations,
    declare,
    declared_in_batch,
    may_declare,
    outcome,
    revealed,
)
from scopa_server.rules.record import Rules, build
from support import vectors

CIRULLA = build("cirulla", {})


def stage(*hands: str, table: str = "10D", stock: int = 6, **rules: object) -> Deal:
    """A deal of Cirulla, just dealt, in which seat 0 is to play."""
    asked = build("cirulla", {"players": len(hands), **rules})
    blank = begin(asked, asked.players - 1, DECK)
    return replace(blank, hands=tuple(map(parse, hands)), table=parse(table), stock=stock)


def announce(deal: Deal, seat: int, kind: Any, matta: int | None = None) -> Deal:
    """Let a seat declare what it may."""
    chosen = Declaration(kind=kind, matta=matta)
    assert chosen in may_declare(deal, seat)
    return declare(deal, outcome(deal, seat, chosen))


def lay(deal: Deal, card: str, take: str = "") -> Deal:
    """Let the seat to play play a card, which must be legal."""
    assert deal.to_play is not None
    hand, taken = deal.hands[deal.to_play], parse(take)
    assert check(deal.rules, hand, deal.table, card, taken, deal.named) is None
    return play(deal, played(deal, card, taken))


@pytest.mark.parametrize(
    "case", vectors.load("cirulla")["declarations"], ids=lambda case: " ".join(case["hand"])
)
def test_declaration_vectors(case: dict[str, Any]) -> None:
    found = declarations(CIRULLA, case["hand"])
    shown = [{"kind": d.kind, "matta": d.matta, "points": d.points} for d in found]
    assert shown == case["declarations"]


# The rulebook's words once more, value by value


def _reading(hand: tuple[str, ...], *, matta: bool, both: bool) -> Iterator[tuple[str, Any, int]]:
    """Every declaration that the text allows; 7C is named only what it is not."""
    names: list[int | None] = [None, 1, 2, 3, 4, 5, 6, 8, 9, 10]
    for name in names:
        if name is not None and not (matta and "7C" in hand):
            continue
        values = [name if name and card == "7C" else int(card[:-1]) for card in hand]
        low = values[0] + values[1] + values[2] <= 9
        three = values[0] == values[1] == values[2]
        if low:
            yield "low", name, 3
        if three:
            yield "three", name, 10
        if low and three and both:
            yield "both", name, 13


@pytest.mark.parametrize("matta", [False, True])
@pytest.mark.parametrize("both", [False, True])
def test_every_hand_declares_what_the_text_says(matta: bool, both: bool) -> None:
    rules = build("cirulla", {"matta": matta, "declare_both": both})
    for hand in combinations(DECK, 3):
        found = declarations(rules, hand)
        shown = [(d.kind, d.matta, d.points) for d in found]
        assert set(shown) == set(_reading(hand, matta=matta, both=both))
        assert len(set(shown)) == len(shown)
        assert [d.points for d in found] == sorted(d.points for d in found)


def test_without_the_rule_nothing_is_declared() -> None:
    assert declarations(build("escoba", {"matta": True}), parse("1D 1C 1S")) == ()


def test_three_sevens_and_a_low_hand_with_one_stand_as_they_are() -> None:
    three = Declaration(kind="three")
    assert declarations(CIRULLA, parse("7D 7C 7S")) == (three,)
    assert Declaration(kind="low", matta=7) not in declarations(CIRULLA, parse("1D 1C 7C"))


# Who may, and when


def test_in_or_out_of_turn_before_the_first_card_and_once() -> None:
    deal = stage("2D 3D 4C", "1D 1S 5B", "9D 9C 7C")
    assert may_declare(deal, 0)
    out_of_turn = announce(deal, 2, "three", 9)
    assert may_declare(out_of_turn, 2) == ()
    assert out_of_turn.to_play == 0
    after = lay(out_of_turn, "2D")
    assert may_declare(after, 0) == ()
    assert may_declare(after, 1)
    assert may_declare(announce(after, 1, "low"), 1) == ()


def test_the_next_batch_is_another_occasion() -> None:
    deal = stage("1D 1S 4C", "2S 2B 3B", table="10D", stock=6)
    deal = replace(deal, deck=(*deal.deck[:34], *parse("1C 5D 1B 5S 2C 5C")))
    deal = announce(deal, 0, "low")
    for card in ("4C", "2S", "1D", "2B", "1S", "3B"):
        hand = deal.hands[deal.to_play or 0]
        takes = options(deal.rules, deal.table, card)
        assert card in hand
        deal = lay(deal, card, " ".join(takes[0]) if takes else "")
    assert needs_batch(deal)
    deal = next_batch(deal)
    assert deal.hands[0] == parse("1C 1B 2C")
    assert declared_in_batch(deal, 0) is None
    assert revealed(deal, 0) == ()
    deal = announce(deal, 0, "low")
    assert [done.batch for done in deal.declared] == [1, 2]


def test_partners_may_both_and_their_side_scores() -> None:
    deal = stage("1D 1S 4C", "10S 10C 9D", "3B 3D 7C", "6D 8D 9S")
    deal = announce(announce(deal, 0, "low"), 2, "three", 3)
    counted = facts(replace(deal, hands=((),) * 4, stock=0))
    assert counted.declared == (3, 0, 10, 0)
    points = [side.points.get("declarations") for side in count_deal(deal.rules, counted)]
    assert points == [13, None]


def test_a_hand_good_for_both_takes_one_unless_both_count() -> None:
    kinds = [d.kind for d in may_declare(stage("2D 2C 2S", "9D 9C 8D"), 0)]
    assert kinds == ["low", "three"]
    both = may_declare(stage("2D 2B 7C", "9D 9C 8D", declare_both=True), 0)
    assert [(d.matta, d.points) for d in both if d.kind == "both"] == [(2, 13)]


# What lies open


def test_a_declared_hand_lies_open_and_shrinks_as_it_is_played() -> None:
    deal = announce(stage("1D 3C 4S", "9B 10S 10B", table="9D"), 0, "low")
    assert revealed(deal, 0) == parse("1D 3C 4S")
    assert revealed(deal, 1) == ()
    deal = lay(lay(deal, "3C"), "10S")
    assert revealed(deal, 0) == parse("1D 4S")


# The matta


def test_named_it_captures_by_that_value_and_is_seven_in_the_pile() -> None:
    deal = announce(stage("9D 9C 7C", "1D 2D 8S", table="9S 6B"), 0, "three", 9)
    assert deal.named == 9
    assert sorted(options(deal.rules, deal.table, "7C", matta=deal.named)) == [("6B",), ("9S",)]
    deal = lay(deal, "7C", "9S")
    assert deal.matta is None
    assert deal.piles[0] == parse("7C 9S")


def test_named_ace_it_sweeps_as_an_ace() -> None:
    deal = announce(stage("2D 3B 7C", "1D 2S 8S", table="10S 6B 9C"), 0, "low", 1)
    fact = played(deal, "7C", parse("10S 6B 9C"))
    assert fact.scopa
    assert fact.sweep is not None
    assert (fact.sweep.value, fact.sweep.by_ace) == (1, True)
    assert lay(deal, "7C", "10S 6B 9C").named is None


def test_named_ace_and_led_to_an_empty_table_it_may_take_itself() -> None:
    deal = stage("2D 3B 7C", "1D 2S 8S", table="", ace_on_empty="takes_itself")
    deal = lay(announce(deal, 0, "low", 1), "7C")
    assert (deal.table, deal.piles[0], deal.named) == ((), parse("7C"), None)


def test_on_the_table_it_is_taken_as_what_it_was_named() -> None:
    deal = announce(stage("2D 3B 7C", "8S 1D 2S", table="", must_capture=False), 0, "low", 1)
    deal = lay(deal, "7C")
    assert deal.named == 1
    # An ace lies there: it alone is taken by an ace, and with it fifteen is fourteen more.
    assert options(deal.rules, deal.table, "1D", matta=deal.named) == [("7C",)]
    assert options(deal.rules, deal.table, "8S", matta=deal.named) == []
    assert check(deal.rules, deal.hands[1], deal.table, "8S", ("7C",), 1) == "illegal_capture"
    deal = lay(deal, "1D", "7C")
    assert (deal.named, deal.piles[1]) == (None, parse("1D 7C"))


def test_on_the_table_its_name_outlasts_the_batch() -> None:
    deal = stage("9D 9C 7C", "10S 10B 8D", table="", stock=6, must_capture=False)
    deal = lay(announce(deal, 0, "three", 9), "7C")
    deal = replace(deal, hands=((), ()))
    deal = next_batch(deal)
    assert deal.named == 9
    assert deal.matta is not None
    assert deal.matta.seat == 0


def test_leftovers_end_its_name_too() -> None:
    deal = stage("9D 9C 7C", "10S 10B 8D", table="4D", must_capture=False)
    deal = lay(announce(deal, 0, "three", 9), "7C")
    over = replace(deal, hands=((), ()), stock=0, to_play=None, last_taker=1)
    done = finish(over)
    assert (over.named, done.named) == (9, None)
    assert "7C" in done.piles[1]


def test_not_declared_it_is_a_seven() -> None:
    deal = stage("2D 3B 7C", "8S 1D 2S", table="8B 10D")
    assert deal.named is None
    assert options(deal.rules, deal.table, "7C", matta=deal.named) == [("8B",)]
    assert announce(stage("1D 1S 7C", "9D 9C 8D"), 0, "low").named is None


def test_points_are_on_record_whatever_the_rules_of_the_count() -> None:
    rules = Rules(declarations=True)
    deal = replace(begin(rules, 0, DECK), hands=(parse("1D 1S 1C"), parse("2D 2S 2C")))
    deal = announce(announce(deal, 0, "three"), 1, "low")
    assert facts(replace(deal, hands=((), ()), stock=0)).declared == (10, 3)

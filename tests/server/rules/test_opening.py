"""The first card's choice and the opening sweep."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from scopa_server.rules.cards import DECK, parse
from scopa_server.rules.count import count_deal, facts
from scopa_server.rules.deal import begin, finish, is_void, leftovers
from scopa_server.rules.opening import asked, choose, offer, scope, sweep
from scopa_server.rules.record import build
from support import vectors

CIRULLA = build("cirulla", {})
CHKOBBA = build("chkobba", {})


@pytest.mark.parametrize(
    "case", vectors.load("cirulla")["opening"], ids=lambda case: " ".join(case["table"])
)
def test_opening_vectors(case: dict[str, Any]) -> None:
    assert is_void(CIRULLA, case["table"]) == case["void"]
    if not case["void"]:
        assert scope(CIRULLA, case["table"]) == case["scope"]


@pytest.mark.parametrize("matta", [False, True])
def test_every_table_is_worth_what_the_text_says(matta: bool) -> None:
    rules = build("escoba", {"matta": matta})
    for table in combinations((*DECK[::3], "7C"), 4):
        ways = range(1, 11) if matta and "7C" in table else [7]
        totals = [sum(way if c == "7C" else int(c[:-1]) for c in table) for way in ways]
        worth = 1 if 15 in totals else 2 if 30 in totals else 0
        assert not (15 in totals and 30 in totals)
        assert scope(rules, table) == worth


def test_without_the_rule_no_table_is_swept() -> None:
    assert scope(build("quindici", {}), parse("1D 2C 5S 7B")) == 0


def _deck(table: str, players: int = 2) -> tuple[str, ...]:
    """A deck that deals this opening table."""
    rest = [card for card in DECK if card not in parse(table)]
    return (*rest[: 3 * players], *parse(table), *rest[3 * players :])


@pytest.mark.parametrize(("table", "worth"), [("10D 10S 3B 7C", 2), ("5D 5S 3B 7C", 1)])
@pytest.mark.parametrize("value", ["one", "card", "cards"])
def test_it_goes_to_the_dealer_as_one_point_each(table: str, worth: int, value: str) -> None:
    rules = build("cirulla", {"scopa_value": value})
    dealt = begin(rules, 1, _deck(table))
    assert dealt.table == parse(table)
    swept = sweep(dealt, scope(rules, dealt.table))
    assert (swept.table, swept.piles) == ((), ((), parse(table)))
    assert swept.last_taker == 1
    assert swept.to_play == 0
    assert [one.kind for one in swept.sweeps] == ["opening"] * worth
    counts = count_deal(rules, facts(swept))
    assert [count.points.get("scope") for count in counts] == [None, worth]
    assert counts[1].scope == worth


def test_the_dealer_is_the_last_to_have_captured() -> None:
    dealt = begin(CIRULLA, 1, _deck("5D 5S 3B 2C"))
    swept = sweep(dealt, scope(CIRULLA, dealt.table))
    over = replace(swept, table=parse("9B"), hands=((), ()), stock=0, to_play=None)
    assert leftovers(over) == (1, ("9B",))
    done = finish(over)
    assert done.piles[1] == parse("5D 5S 3B 2C 9B")
    assert leftovers(done) == leftovers(over)


# The first card


def test_while_it_is_awaited_nothing_is_dealt() -> None:
    deal = offer(CHKOBBA, 0, DECK)
    assert asked(deal) == 1
    assert (deal.batch, deal.turn, deal.to_play, deal.stock) == (0, 0, None, 40)
    assert (deal.hands, deal.table) == (((), ()), ())
    assert asked(choose(deal, laid=True)) is None
    assert asked(begin(CHKOBBA, 0, DECK)) is None


def test_kept_it_is_the_first_of_the_leader_s_cards() -> None:
    deal = begin(CHKOBBA, 0, DECK, laid=False)
    assert deal.hands == (DECK[1:6:2], DECK[0:6:2])
    assert deal.table == DECK[6:10]
    assert (deal.stock, deal.to_play, deal.laid) == (30, 1, False)


@pytest.mark.parametrize("players", [2, 4])
def test_refused_it_begins_the_table_which_gets_the_rest_at_the_end(players: int) -> None:
    rules = build("chkobba", {"players": players})
    deal = begin(rules, 0, DECK, laid=True)
    dealt = 3 * players
    assert deal.table == (DECK[0], *DECK[dealt + 1 : dealt + 4])
    assert deal.hands[1] == DECK[1 : dealt + 1 : players]
    assert deal.hands[0] == DECK[players : dealt + 1 : players]
    assert deal.stock == 40 - dealt - 4
    assert deal.deck[-deal.stock :] == DECK[dealt + 4 :]

"""Totals, the end of a match, and counting it again."""

from dataclasses import replace
from typing import Any

import pytest

from scopa_server.rules.count import DealFacts, SideCount
from scopa_server.rules.deal import Sweep
from scopa_server.rules.match import add, standings, winner
from scopa_server.rules.record import SCORING_FIELDS, Rules, build
from support import vectors


@pytest.mark.parametrize("case", vectors.load("match_ends"))
def test_end_vectors(case: dict[str, Any]) -> None:
    rules = build("scopa", {"players": len(case["totals"]), **case["rules"]})
    assert winner(rules, case["totals"], None) == case["winner"]


def recorded(deal: dict[str, Any]) -> DealFacts:
    return DealFacts(
        piles=tuple(map(tuple, deal["piles"])),
        sweeps=tuple(
            Sweep(seat=seat, value=scopa["value"], cards=scopa["cards"])
            for seat, scope in enumerate(deal["scope"])
            for scopa in scope
        ),
        declared=(0,) * len(deal["piles"]),
        leftovers=None,
    )


@pytest.mark.parametrize("case", vectors.load("rescoring"), ids=vectors.name)
@pytest.mark.parametrize("when", ["before", "after"])
def test_rescoring_vectors(case: dict[str, Any], when: str) -> None:
    change = case["change"] if when == "after" else {}
    assert set(change) <= SCORING_FIELDS
    rules = build(case["variant"], {"players": case["players"], **case["rules"], **change})
    totals, won = standings(rules, [recorded(deal) for deal in case["deals"]])
    assert [list(running) for running in totals] == case[when]["totals"]
    assert won == case[when]["winner"]


def counted(total: int, coins: int = 5) -> SideCount:
    return SideCount(cards=20, coins=coins, primiera=70, scope=0, points={}, total=total)


def test_points_are_added() -> None:
    assert add(Rules(), (4, 6), [counted(3), counted(1)]) == (7, 7)


def test_enough_coins_reset_the_others_with_this_deal_s_points() -> None:
    rules = build("libica", {"players": 3, "coins_reset": 8})
    assert add(rules, (4, 6, 9), [counted(3, 8), counted(1, 2), counted(2, 0)]) == (7, 0, 0)
    assert add(rules, (4, 6, 9), [counted(3, 7), counted(1, 2), counted(2, 1)]) == (7, 7, 11)


def test_all_coins_win_before_anything_else() -> None:
    counts = [counted(1, 10), counted(9, 0)]
    assert winner(build("napola", {}), (1, 40), counts) == 0
    assert winner(build("napola", {}), (1, 40), None) == 1
    assert winner(Rules(target=21), (1, 40), counts) == 1


def test_cappotto_comes_before_the_target() -> None:
    assert winner(Rules(cappotto=True, target=5), (0, 7), None) == 1
    assert winner(Rules(cappotto=True), (0, 6), None) is None


def test_reset_and_all_coins_settle_the_latest_deal() -> None:
    rules = build("libica", {"players": 2, "target": 50, "all_coins": "wins_match"})
    assert winner(rules, (5, 0), [counted(5, 10), counted(1, 0)]) == 0


def test_only_the_latest_deal_settles_the_match() -> None:
    case = vectors.load("rescoring")[0]
    deals = [recorded(deal) for deal in case["deals"]]
    rules = replace(build("scopa", {}), target=5)
    totals, won = standings(rules, deals[:2])
    assert totals == [(0, 4), (3, 5)]
    assert won == 1
    turned = replace(deals[0], piles=deals[0].piles[::-1])
    assert standings(rules, [*deals[:2], turned]) == ([(0, 4), (3, 5), (7, 5)], 0)


def test_no_deals_no_winner() -> None:
    assert standings(Rules(), []) == ([], None)

"""The count of a deal."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scopa_server.rules.cards import DECK, parse
from scopa_server.rules.count import COUNTS, DealFacts, count, count_deal, facts
from scopa_server.rules.deal import Sweep, finish, is_scopa
from scopa_server.rules.record import Rules, build
from support import vectors
from support.games import any_rules, random_deal

SEEDS = st.integers(0, 2**32).map(random.Random)


@pytest.mark.parametrize("case", vectors.load("counts"), ids=vectors.name)
def test_vectors(case: dict[str, Any]) -> None:
    rules = build(case["variant"], case["rules"])
    scope = [[(scopa["value"], scopa["cards"]) for scopa in side] for side in case["scope"]]
    counts = count(rules, case["piles"], scope, case["declared"])
    assert [side.points for side in counts] == case["points"]
    assert [side.total for side in counts] == [sum(side.values()) for side in case["points"]]
    sums = case["primiera"] or [None] * len(counts)
    assert [side.primiera for side in counts] == sums
    assert [side.cards for side in counts] == [len(pile) for pile in case["piles"]]
    assert [side.scope for side in counts] == [len(side) for side in case["scope"]]


def test_ties_for_everyone_never_score_at_nothing() -> None:
    rules = build("scopa", {"ties": "everyone"})
    for side in count(rules, [(), ()], [[], []]):
        assert side.points == {}


@pytest.mark.parametrize("ties", ["nobody", "everyone"])
def test_primiera_of_nothing_but_faces_at_zero_has_no_sum(ties: str) -> None:
    rules = build("scopa", {"primiera": "faces_zero", "ties": ties})
    faces = parse("8D 8C 8S 8B"), parse("9D 9C 9S 9B")
    for side in count(rules, faces, [[], []]):
        assert side.primiera is None
        assert "primiera" not in side.points


def sweep(seat: int, **how: Any) -> Sweep:
    return Sweep(**{"seat": seat, "value": 7, "cards": 3, "card": "7D", **how})


def points_for(rules: Rules, *sweeps: Sweep) -> list[int]:
    empty = DealFacts(
        piles=((),) * rules.players,
        sweeps=sweeps,
        declared=(0,) * rules.players,
        leftovers=None,
    )
    return [side.points.get("scope", 0) for side in count_deal(rules, empty)]


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"by_ace": True}, "ace_scopa"),
        ({"last_card": True}, "last_card_scopa"),
        ({"kind": "leftovers"}, "leftovers_scopa"),
    ],
)
def test_sweeps_count_where_the_rules_say_so(how: dict[str, Any], field: str) -> None:
    assert points_for(build("scopa", {}), sweep(1, **how)) == [0, 0]
    assert points_for(build("scopa", {field: True}), sweep(1, **how)) == [0, 1]


def test_last_sweep_by_an_ace_needs_both() -> None:
    both = sweep(0, by_ace=True, last_card=True)
    assert points_for(build("scopa", {"ace_scopa": True}), both) == [0, 0]
    assert points_for(build("scopa", {"last_card_scopa": True}), both) == [0, 0]
    rules = build("scopa", {"ace_scopa": True, "last_card_scopa": True})
    assert points_for(rules, both) == [1, 0]


@pytest.mark.parametrize(("worth", "points"), [("one", 1), ("card", 7), ("cards", 3)])
def test_a_scopa_s_worth(worth: str, points: int) -> None:
    rules = build("scopa", {"scopa_value": worth, "leftovers_scopa": True})
    assert points_for(rules, sweep(0)) == [points, 0]
    assert points_for(rules, sweep(0, kind="leftovers")) == [1, 0]
    assert points_for(rules, sweep(0, kind="opening")) == [1, 0]


def test_partners_sit_alternately() -> None:
    rules = build("scopa", {"players": 4})
    dealt = DealFacts(
        piles=(DECK[:5], (), DECK[5:10], DECK[10:]),
        sweeps=(sweep(1), sweep(3), sweep(2)),
        declared=(3, 0, 10, 0),
        leftovers=None,
    )
    first, second = count_deal(rules, dealt)
    assert (first.cards, first.coins, second.cards) == (10, 10, 30)
    assert (first.scope, second.scope) == (1, 2)
    assert first.points["declarations"] == 13
    alone = count_deal(replace(rules, sides=4), dealt)
    assert [side.cards for side in alone] == [5, 0, 5, 30]


def test_three_teams_of_two() -> None:
    rules = build("scopa", {"players": 6, "sides": 3})
    assert points_for(rules, sweep(2), sweep(5), sweep(4), sweep(0)) == [1, 1, 2]
    dealt = DealFacts(
        piles=(DECK[:6], DECK[6:12], DECK[12:18], DECK[18:24], (), DECK[24:]),
        sweeps=(),
        declared=(3, 0, 0, 10, 3, 0),
        leftovers=None,
    )
    sides = count_deal(rules, dealt)
    assert [side.cards for side in sides] == [12, 6, 22]
    assert [side.points.get("declarations", 0) for side in sides] == [13, 3, 0]


@settings(max_examples=60, deadline=None)
@given(any_rules(), SEEDS)
def test_points_add_up(rules: Rules, chance: random.Random) -> None:
    *_, over = random_deal(rules, chance)
    recorded = facts(over)
    counts = count_deal(rules, recorded)
    assert len(counts) == rules.sides
    assert sum(side.cards for side in counts) == sum(map(len, recorded.piles))
    for side in counts:
        assert side.total == sum(side.points.values())
        assert 0 not in side.points.values()
        assert set(COUNTS) >= set(side.points)
    for item in ("cards", "coins", "primiera"):
        winners = [side for side in counts if item in side.points]
        assert len(winners) <= 1 or rules.ties == "everyone"
    for item in ("settebello", "napola", "grande", "re_bello", "settecoppe", "all_sevens"):
        assert sum(item in side.points for side in counts) <= 1
    assert all(side.primiera is None or side.primiera > 0 for side in counts)


@settings(max_examples=60, deadline=None)
@given(any_rules(), SEEDS)
def test_scope_on_record_are_those_that_were_played(rules: Rules, chance: random.Random) -> None:
    *_, over = random_deal(rules, chance)
    played = [fact for fact in over.plays if fact.scopa]
    others = [one for one in finish(over).sweeps if one.kind != "capture" and is_scopa(rules, one)]
    counts = count_deal(rules, facts(over))
    assert sum(side.scope for side in counts) == len(played) + len(others)


@settings(max_examples=30, deadline=None)
@given(any_rules(), SEEDS)
def test_facts_are_the_same_before_and_after_finishing(rules: Rules, chance: random.Random) -> None:
    *_, over = random_deal(rules, chance)
    assert facts(over) == facts(finish(over))
    left = facts(over).leftovers
    assert (left is None) == (over.last_taker is None or not over.table)

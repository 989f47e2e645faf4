"""The course of a match: deals, counts, ends, and what the views say of them."""

import random
from typing import Any

import pytest

from scopa_protocol import commands as c
from scopa_protocol import events as told
from scopa_protocol.codes import ErrorCode
from scopa_server.room import events as e
from scopa_server.rules.cards import DECK
from support.tables import Table, duel, heard


def _to_the_end(table: Table) -> Table:
    chance = random.Random(1)
    while table.phase() != "match_over":
        table.step(chance)
    return table


def test_a_deal_that_is_over_stays_as_it_was_counted() -> None:
    chance = random.Random(1)
    table = duel(target=50).start().deal_out(chance)
    view = table.view(0)
    assert (view.phase, view.to_play, view.turn, view.batch) == ("deal_over", None, 36, 6)
    assert (view.hand, view.options, view.table, view.stock) == ([], None, [], 0)
    assert view.count is not None
    assert view.count.deal == view.deal == 1
    assert [side.captured for side in view.sides] == [side.cards for side in view.count.sides]
    assert [side.scope for side in view.sides] == [side.scope for side in view.count.sides]
    assert [side.score for side in view.sides] == view.count.totals
    assert view.deals == [[side.total for side in view.count.sides]]
    assert sorted(card for side in view.count.sides for card in side.pile) == sorted(DECK)
    assert view.winner is None
    count = view.count
    table.all_ready()
    view = table.view(0)
    assert (view.phase, view.deal, view.turn, view.count) == ("playing", 2, 1, count)
    assert [side.captured for side in view.sides] == [0, 0]
    assert [side.score for side in view.sides] == count.totals
    assert not any(seat.ready for seat in view.seats)


def test_leftovers_that_count_as_a_scopa_have_no_card() -> None:
    for seed in range(40):
        table = Table(seed=seed, variant="scopa", target=50, leftovers_scopa=True).start()
        table.deal_out(random.Random(seed))
        view = table.view(None)
        assert view.count is not None
        if view.count.leftovers is not None:
            scope = [side.scope for side in view.sides]
            assert scope == [side.scope for side in view.count.sides]
            assert sum(scope) == sum(len(side.scope_cards) for side in view.sides) + 1
            return
    raise AssertionError("no deal left anything")


def test_a_match_that_is_won() -> None:
    table = _to_the_end(duel(target=3).start())
    view = table.view(1)
    assert view.winner is not None
    assert view.count is not None
    assert view.matches[-1].winner == view.winner
    assert view.matches[-1].totals == view.count.totals == [side.score for side in view.sides]
    assert not view.matches[-1].abandoned
    assert (view.to_play, view.commitment, view.paused_by) == (None, None, None)
    assert view.turn == 36
    assert sum(side.captured for side in view.sides) == 40


def test_the_next_match_starts_afresh() -> None:
    table = _to_the_end(duel(target=2).start())
    ended = table.view(0)
    before = table.room
    events = table.do(0, c.Start())
    kinds = [type(event) for event in events]
    assert kinds[:3] == [e.MatchStarted, e.DealerDrawn, e.Shuffled]
    draws = [item for _, item in heard(before, events, 0) if isinstance(item, told.DealerDrawn)]
    values = [int(card[:-1]) for _, card in draws[0].draws[-2:]]
    assert draws[0].draws[-2:][values.index(min(values))][0] == draws[0].dealer
    view = table.view(0)
    assert view.dealer == draws[0].dealer
    assert (view.match, view.deal, view.winner) == (2, ended.deal + 1, None)
    assert (view.deals, [side.score for side in view.sides]) == ([], [0, 0])
    assert view.count == ended.count
    assert view.matches == ended.matches


@pytest.mark.parametrize("deals", [0, 1])
@pytest.mark.parametrize("plays", [0, 1, 20])
def test_an_abandoned_match(deals: int, plays: int) -> None:
    chance = random.Random(1)
    table = duel(target=50).start()
    for _ in range(deals):
        table.deal_out(chance)
        table.all_ready()
    for _ in range(plays):
        table.play(chance)
    totals = list(table.room.totals)
    table.do(0, c.EndMatch())
    view = table.view(0)
    assert (view.phase, view.deal) == ("match_over", deals + 1)
    assert (view.turn, view.batch, view.stock) == (0, 0, 0)
    assert [(side.captured, side.scope, side.scope_cards) for side in view.sides] == [
        (0, 0, [])
    ] * 2
    assert (view.hand, view.table, view.recent) == ([], [], [])
    assert [view.count, view.winner, view.to_play, view.commitment] == [None] * 4
    assert [(r.winner, r.totals, r.abandoned) for r in view.matches] == [(None, totals, True)]
    assert [seat.cards for seat in view.seats] == [0, 0]
    table.do(0, c.Start())
    assert table.view(0).deal == deals + 2


def test_a_room_shows_only_its_latest_matches() -> None:
    table = duel(target=50).fill()
    for _ in range(105):
        table.do(0, c.Start())
        table.do(0, c.EndMatch())
    assert table.view(0).match == 105
    assert len(table.view(0).matches) == 100


def test_a_match_abandoned_between_deals() -> None:
    table = duel(target=50).start().deal_out(random.Random(1))
    totals = list(table.room.totals)
    table.do(0, c.Pause())
    table.do(0, c.EndMatch())
    view = table.view(0)
    assert (view.count, view.turn, view.commitment, view.paused_by) == (None, 0, None, None)
    assert view.matches[-1].totals == totals


def test_with_the_match_over_vacant_seats_are_empty_and_who_waited_sits() -> None:
    table = Table(seed=1, variant="scopa", players=3).start()
    table.do(1, c.Leave())
    table.do(2, c.Leave())
    table.do(None, c.Join(room="TESTROOM", name="Nina", seat=2, token="n" * 22))
    table.do(0, c.EndMatch())
    kinds = [(seat.kind, seat.name, seat.reserved) for seat in table.view(None).seats]
    assert kinds == [("person", "Anna", None), ("empty", None, None), ("person", "Nina", None)]
    assert table.refused(0, c.Start()).code is ErrorCode.SEATS_EMPTY


def test_the_result_stays_while_only_the_rules_of_the_next_match_change() -> None:
    table = _to_the_end(duel(target=2).start())
    ended = table.view(0)
    table.do(0, c.Configure(rules={"target": 7}))
    view = table.view(0)
    assert view.rules.target == 7
    assert (view.winner, view.sides, view.deals, view.count, view.turn) == (
        ended.winner,
        ended.sides,
        ended.deals,
        ended.count,
        ended.turn,
    )
    table.do(0, c.Configure(rules={"variant": "scopa", "players": 3}))
    view = table.view(0)
    assert (view.winner, view.turn, view.deals) == (None, 0, [])
    assert [(side.score, side.captured) for side in view.sides] == [(0, 0)] * 3
    assert view.matches == ended.matches
    assert view.count == ended.count


def test_everybody_ready_deals_and_only_then() -> None:
    table = Table(seed=2, variant="scopa", players=3, target=50).start()
    table.deal_out(random.Random(1))
    table.do(0, c.Ready(deal=1))
    assert [seat.ready for seat in table.view(None).seats] == [True, False, False]
    table.online -= {2}
    table.do(1, c.Ready(deal=1))
    assert table.phase() == "playing"


def _views(table: Table) -> list[Any]:
    return [table.view(seat) for seat in (None, *range(len(table.room.seats)))]


def test_everybody_sees_the_same_but_for_what_is_their_own() -> None:
    table = Table(seed=2).start()
    views = _views(table)
    for view in views:
        assert (view.table, view.sides, view.seats) == (
            views[0].table,
            views[0].sides,
            views[0].seats,
        )
    assert [view.you for view in views] == [None, 0, 1, 2, 3]
    assert sorted(card for view in views[1:] for card in view.hand) == sorted(DECK)

"""A match counted again is the match counted so from its beginning, whatever changes."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_server.room import events as e
from scopa_server.room.decide.counting import as_counted
from scopa_server.room.events import read_events
from scopa_server.room.state import Finished, Room
from scopa_server.rules.count import DealFacts, count_deal
from scopa_server.rules.deal import Sweep
from scopa_server.rules.match import standings
from scopa_server.rules.record import SCORING_FIELDS
from support import recount, vectors
from support.tables import Table

GAMES: list[dict[str, Any]] = [
    {"variant": "scopa", "players": 2},
    {"variant": "scopa", "players": 4},
    {"variant": "scopa", "players": 6, "sides": 3},
    {"variant": "scopa", "players": 4, "hand": 10, "must_capture": False},
    {"variant": "quindici", "players": 3},
    {"variant": "asso_piglia_tutto", "players": 2, "capture": "sum_or_fifteen"},
    {"variant": "scopa_dassi", "players": 4, "ace_on_empty": "takes_itself"},
    {"variant": "scopone"},
    {"variant": "libica"},
    {"variant": "escoba", "players": 4, "scopa_value": "card"},
    {"variant": "cirulla"},
    {"variant": "cirulla", "players": 4, "hand": 3, "declare_both": True},
    {"variant": "chkobba", "players": 4},
]
VALUES: dict[str, tuple[Any, ...]] = {
    "sides": (2, 3, 4, 6),
    "target": (1, 5, 11, 21, 101),
    "primiera": ("scale", "faces_zero", "sevens", "sevens_sixes", "off"),
    "primiera_short": ("out", "counted"),
    "napola": ("off", "run", "three"),
    "napola_cap": (3, 6, 10),
    "grande": (False, True),
    "re_bello": (False, True),
    "settecoppe": (False, True),
    "all_sevens": (False, True),
    "scopa_value": ("one", "card", "cards"),
    "ace_scopa": (False, True),
    "last_card_scopa": (False, True),
    "leftovers_scopa": (False, True),
    "ties": ("nobody", "everyone"),
    "coins_reset": (0, 6, 8),
    "all_coins": ("nothing", "wins_match"),
    "cappotto": (False, True),
    "reverse": (False, True),
}
CHANGES = st.fixed_dictionaries(
    {}, optional={field: st.sampled_from(values) for field, values in VALUES.items()}
)


def played(game: dict[str, Any], seed: int, deals: int) -> Table:
    """A match of so many deals, with nobody near the target; all coins may end it sooner."""
    chance = random.Random(seed)
    table = Table(seed=seed, target=101, **game).start()
    while len(table.room.finished) < deals and table.room.in_match:
        table.step(chance)
    return table


def agree(table: Table) -> None:
    """Everybody who is asked agrees."""
    while table.room.proposed is not None:
        proposal = table.room.proposed
        table.do(proposal.waiting[0], c.Answer(proposal=proposal.id, agree=True))


def test_every_scoring_field_is_tried() -> None:
    assert set(VALUES) == SCORING_FIELDS


@settings(max_examples=150, deadline=None)
@given(
    game=st.sampled_from(GAMES),
    seed=st.integers(0, 30),
    deals=st.integers(1, 3),
    changes=st.lists(CHANGES, min_size=1, max_size=3),
)
def test_any_change_counts_as_from_the_beginning(
    game: dict[str, Any], seed: int, deals: int, changes: list[dict[str, Any]]
) -> None:
    table = played(game, seed, deals)
    for change in changes:
        if table.phase() == "match_over":
            break
        assert table.code(0, c.Propose(rules=change)) in {None, ErrorCode.BAD_RULES}
        proposed = table.room.proposed
        agree(table)
        if proposed is not None:
            assert proposed.totals == table.room.totals
    check(table)


def check(table: Table) -> None:
    """The room, its view and its history against the cards that were played."""
    view = table.view(None)
    deals = [deal for deal in table.past().deals.values() if not deal.void]
    assert [deal.rules for deal in deals] == [view.rules] * len(deals)
    running = recount.totals(view.rules, deals)
    assert [deal.count.totals for deal in deals if deal.count] == running
    assert [side.score for side in view.sides] == running[-1]
    assert view.deals == [recount.points(view.rules, deal) for deal in deals]
    assert view.winner == recount.winner(view.rules, deals)
    assert (view.phase == "match_over") == (view.winner is not None)
    assert view.count == deals[-1].count
    for side, taken in zip(view.sides, recount.played_out(view.rules, deals[-1]), strict=True):
        assert side.scope == len(taken.scope)
        assert side.captured == len(taken.pile)


# The vectors, through a room


def _facts(deal: dict[str, Any]) -> DealFacts:
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


def _having_played(room: Room, deals: list[DealFacts]) -> Room:
    """A room between deals, with these behind it."""
    totals, _ = standings(room.rules, deals)
    counts = [count_deal(room.rules, deal) for deal in deals]
    finished = tuple(
        Finished(deal=number, facts=deal, points=tuple(side.total for side in count))
        for number, (deal, count) in enumerate(zip(deals, counts, strict=True), start=1)
    )
    assert room.count is not None
    count = as_counted(room.rules, len(deals), deals[-1], counts[-1], totals[-1], room.count.proof)
    return replace(room, deal_number=len(deals), finished=finished, totals=totals[-1], count=count)


@pytest.mark.parametrize("case", vectors.load("rescoring"), ids=vectors.name)
def test_the_vectors_through_a_room(case: dict[str, Any]) -> None:
    game = {"variant": case["variant"], "players": case["players"], **case["rules"]}
    table = Table(seed=1, **game).start().deal_out(random.Random(1))
    table.room = _having_played(table.room, [_facts(deal) for deal in case["deals"]])
    assert [side.score for side in table.view(0).sides] == case["before"]["totals"][-1]
    table.do(1, c.Propose(rules=case["change"]))
    shown = table.view(0).proposal
    assert shown is not None
    after, asked = case["after"], [seat for seat in range(case["players"]) if seat != 1]
    assert (shown.by, shown.agreed, shown.waiting) == (1, [1], asked)
    assert (shown.rules, shown.totals) == (case["change"], after["totals"][-1])
    agree(table)
    view = table.view(0)
    assert [side.score for side in view.sides] == after["totals"][-1]
    assert view.count is not None
    assert view.count.totals == after["totals"][-1]
    assert view.winner == after["winner"]
    assert (view.phase == "match_over") == (after["winner"] is not None)
    if "coins_reset" not in case["change"]:
        so_far = [view.deals[:number] for number in range(1, len(view.deals) + 1)]
        assert [list(map(sum, zip(*deals, strict=True))) for deals in so_far] == after["totals"]


def test_teams_may_form_and_part() -> None:
    table = played({"variant": "scopa", "players": 4, "sides": 4}, 3, 2)
    table.do(0, c.Propose(rules={"sides": 2}))
    agree(table)
    view = table.view(0)
    assert [seat.side for seat in view.seats] == [0, 1, 0, 1]
    assert len(view.sides) == len(view.deals[0]) == 2
    check(table)
    # The next deal is played and counted in pairs.
    chance = random.Random(1)
    table.all_ready()
    table.deal_out(chance)
    check(table)
    assert table.refused(0, c.Propose(rules={"sides": 3})).details == {"field": "sides"}
    # Who chose a game of pairs stays in pairs.
    pairs = played({"variant": "scopone"}, 1, 1)
    assert pairs.refused(0, c.Propose(rules={"sides": 4})).details == {"field": "sides"}


def test_what_an_earlier_deal_would_have_settled_plays_on() -> None:
    table = played({"variant": "scopa", "players": 2}, 5, 3)
    first, last = table.view(0).deals[0], list(table.room.totals)
    assert max(first) < max(last)
    table.do(0, c.Propose(rules={"target": max(last) + 1}))
    agree(table)
    assert table.room.phase == "deal_over"
    assert isinstance(read_events(table.log[-1][1])[-1], e.Rescored)

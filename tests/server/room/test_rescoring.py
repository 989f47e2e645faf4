"""Proposals: who may make and answer them, what becomes of them, and what is told."""

from typing import Any

import pytest

from scopa_protocol import commands as c
from scopa_protocol import events as told
from scopa_protocol.codes import ErrorCode
from scopa_protocol.views import Proposal
from scopa_server.room import events as e
from scopa_server.room.clock import deadlines
from support.proposals import NO, PROPOSE, RULES, YES, deal_over, proposed, public

# Making one


def test_a_proposal_is_told_and_shown_to_all() -> None:
    table = deal_over()
    heard_of = public(table, 1, PROPOSE)
    shown = table.view(None).proposal
    assert heard_of == [told.RulesProposed(proposal=shown or _nothing())]
    assert shown is not None
    assert (shown.id, shown.by, shown.rules) == (1, 1, RULES)
    assert (shown.agreed, shown.waiting) == ([1], [0, 2])
    assert len(shown.totals) == 3
    for seat in range(3):
        assert table.view(seat).proposal == shown
    assert table.view(0).rules.primiera == "scale"


def _nothing() -> Proposal:
    return Proposal(id=0, by=0, rules={}, agreed=[], waiting=[], totals=[])


def test_only_what_changes_is_proposed() -> None:
    table = deal_over()
    table.do(1, c.Propose(rules={**RULES, "target": 50, "ties": "nobody"}))
    assert table.room.proposed is not None
    assert table.room.proposed.rules == RULES


@pytest.mark.parametrize(
    ("rules", "field"),
    [
        ({"hand": 4}, "hand"),
        ({"variant": "scopa"}, "variant"),
        ({"players": 3}, "players"),
        ({"capture": "sum", "target": 5}, "capture"),
        ({"rained": True}, "rained"),
        ({"target": 0}, "target"),
        ({"target": True}, "target"),
        ({"target": "5"}, "target"),
        ({"sides": 2}, "sides"),
        ({"cappotto": True, "coins_reset": 8}, "cappotto"),
        ({"reverse": True, "cappotto": True}, "reverse"),
        ({"napola": ["run"]}, "napola"),
    ],
)
def test_rules_that_cannot_be_proposed(rules: dict[str, Any], field: str) -> None:
    refusal = deal_over().refused(0, c.Propose(rules=rules))
    assert refusal.code is ErrorCode.BAD_RULES
    assert refusal.details == {"field": field}


def test_to_count_as_it_is_counted_is_a_wish_come_true() -> None:
    table = deal_over()
    for rules in ({}, {"target": 50}, {"primiera": "scale", "ties": "nobody"}):
        assert table.do(0, c.Propose(rules=rules)) == ()
    assert table.room.proposal is None
    # But not in other words.
    assert table.code(0, c.Propose(rules={"target": 50.0})) is ErrorCode.BAD_RULES


def test_one_at_a_time() -> None:
    table = proposed()
    refusal = table.refused(0, c.Propose(rules={"target": 5}))
    assert refusal.code is ErrorCode.NOT_ALLOWED
    assert "Bruno" in refusal.message
    assert table.code(1, c.Propose(rules={"target": 5})) is ErrorCode.NOT_ALLOWED
    # The same words from another seat are another proposal; from the same seat the same.
    assert table.code(0, PROPOSE) is ErrorCode.NOT_ALLOWED
    assert table.do(1, PROPOSE) == ()


def test_who_has_no_cards_yet_neither_proposes_nor_is_asked() -> None:
    table = deal_over()
    table.do(2, c.Leave())
    table.do(None, c.Join(room="TESTROOM", name="Nina", token="n" * 22))
    assert table.code(2, PROPOSE) is ErrorCode.NOT_ALLOWED
    table.do(0, PROPOSE)
    assert table.room.proposed is not None
    assert table.room.proposed.waiting == (1,)
    assert table.code(2, YES) is ErrorCode.NOT_ALLOWED


def test_bots_and_vacant_seats_are_not_asked() -> None:
    table = deal_over(players=4)
    table.do(3, c.Leave())
    table.do(2, c.Leave())
    table.do(0, c.SeatBot(seat=2))
    table.do(0, PROPOSE)
    assert table.room.proposed is not None
    assert table.room.proposed.waiting == (1,)


def test_with_nobody_to_ask_it_is_done_at_once() -> None:
    table = deal_over()
    table.do(1, c.Leave())
    table.do(2, c.Leave())
    before = table.room.totals
    heard_of = public(table, 0, c.Propose(rules={"scopa_value": "cards"}))
    assert [type(item) for item in heard_of] == [told.Rescored]
    assert table.room.rules.scopa_value == "cards"
    assert len(table.room.totals) == len(before)
    assert table.do(0, c.Propose(rules={"scopa_value": "cards"})) == ()


def test_who_is_away_or_played_for_is_asked_all_the_same() -> None:
    table = deal_over()
    table.online -= {2}
    table.gone(2)
    table.do(0, c.StandIn(seat=0))
    table.do(1, PROPOSE)
    assert table.room.proposed is not None
    assert table.room.proposed.waiting == (0, 2)


# Answering


def test_when_the_last_agrees_the_match_is_counted_again() -> None:
    table = proposed()
    would_be = table.room.proposed.totals if table.room.proposed else ()
    assert public(table, 0, YES) == []
    view = table.view(2)
    assert view.proposal is not None
    assert (view.proposal.agreed, view.proposal.waiting) == ([1, 0], [2])
    heard_of = public(table, 2, YES)
    view = table.view(2)
    assert heard_of == [told.Rescored(rules=view.rules, totals=list(would_be))]
    assert view.proposal is None
    assert view.rules.primiera == "off"
    assert tuple(side.score for side in view.sides) == would_be
    assert view.count is not None
    assert not any("primiera" in side.points for side in view.count.sides)
    assert view.deals == [[side.total for side in view.count.sides]]


def test_leftovers_piles_and_proof_stay() -> None:
    table = deal_over()
    before = table.view(0).count
    table.do(1, PROPOSE)
    table.do(0, YES)
    table.do(2, YES)
    after = table.view(0).count
    assert before is not None
    assert after is not None
    assert (after.deal, after.proof) == (before.deal, before.proof)
    assert after.leftovers == before.leftovers is not None
    assert [side.pile for side in after.sides] == [side.pile for side in before.sides]


def test_one_who_declines_ends_it() -> None:
    table = proposed()
    table.do(0, YES)
    before = table.room
    assert public(table, 2, NO) == [told.ProposalDropped()]
    assert table.view(0).proposal is None
    assert (table.room.rules, table.room.totals) == (before.rules, before.totals)


def test_who_agreed_may_think_better_of_it() -> None:
    table = proposed()
    table.do(0, YES)
    assert table.do(0, NO) == (e.ProposalDropped(seat=0),)
    assert table.code(0, YES) is ErrorCode.NO_PROPOSAL


def test_the_same_answer_again_is_a_success_whatever_came_of_it() -> None:
    table = proposed()
    table.do(0, YES)
    assert table.do(0, YES) == ()
    table.do(2, YES)
    for seat in range(3):
        assert table.do(seat, YES) == ()
        assert table.code(seat, NO) is ErrorCode.NO_PROPOSAL
    table.all_ready()
    assert table.phase() == "playing"
    assert table.do(2, YES) == ()
    declined = proposed()
    declined.do(0, NO)
    assert declined.do(0, NO) == ()
    assert declined.code(0, YES) is declined.code(2, NO) is ErrorCode.NO_PROPOSAL


def test_answers_to_nothing_and_from_who_was_not_asked() -> None:
    table = deal_over()
    assert table.code(0, YES) is ErrorCode.NO_PROPOSAL
    table.do(1, PROPOSE)
    assert table.code(0, c.Answer(proposal=2, agree=True)) is ErrorCode.NO_PROPOSAL
    assert table.code(0, c.Answer(proposal=0, agree=True)) is ErrorCode.NO_PROPOSAL
    assert table.code(None, YES) is ErrorCode.NOT_SEATED
    assert table.code(None, PROPOSE) is ErrorCode.NOT_SEATED
    # Who proposed has agreed by that, and can't take it back.
    assert table.do(1, YES) == ()
    assert table.code(1, NO) is ErrorCode.NOT_ALLOWED


def test_proposals_are_numbered_on() -> None:
    table = proposed()
    table.do(0, NO)
    table.do(1, PROPOSE)
    assert table.room.proposed is not None
    assert table.room.proposed.id == 2
    assert table.code(0, YES) is ErrorCode.NO_PROPOSAL
    assert table.do(0, c.Answer(proposal=2, agree=True))


def test_who_comes_next_to_a_seat_has_not_answered() -> None:
    table = proposed()
    table.do(0, YES)
    table.do(0, c.Leave())
    table.do(None, c.Join(room="TESTROOM", name="Nina", seat=0, token="n" * 22))
    assert table.code(0, YES) is ErrorCode.NOT_ALLOWED
    table.online |= {0}
    table.all_ready()
    assert table.code(0, YES) is ErrorCode.NO_PROPOSAL


# The end of a match


def test_a_match_may_end_by_it_and_doesnt_reopen() -> None:
    table = deal_over(players=2)
    best = max(table.room.totals)
    assert table.room.totals.count(best) == 1
    table.do(0, c.Propose(rules={"target": best}))
    heard_of = public(table, 1, YES)
    view = table.view(1)
    assert [type(item) for item in heard_of] == [told.Rescored, told.MatchWon]
    assert (view.phase, view.winner) == ("match_over", list(table.room.totals).index(best))
    assert view.matches[-1].totals == list(table.room.totals)
    assert (view.proposal, view.clock, view.commitment) == (None, None, None)
    # Sent again it is a success; undone it can't be.
    assert table.do(0, c.Propose(rules={"target": best})) == ()
    assert table.do(1, YES) == ()
    assert table.code(1, c.Propose(rules={"target": 50})) is ErrorCode.WRONG_PHASE
    # The room goes on with what was agreed.
    table.do(0, c.Start())
    assert table.room.rules.target == best
    assert table.view(0).rules.target == best


def test_a_pause_stops_its_clock_but_not_the_talk_about_it() -> None:
    table = deal_over(players=2)
    table.do(0, c.Pause())
    table.do(0, PROPOSE)
    assert deadlines(table.room, table.online) == ()
    table.do(1, YES)
    assert table.room.rules.primiera == "off"
    assert table.room.paused_by == 0
    table.do(1, c.Propose(rules={"target": max(table.room.totals)}))
    table.do(0, c.Answer(proposal=2, agree=True))
    assert table.phase() == "match_over"
    assert table.view(0).paused_by is None

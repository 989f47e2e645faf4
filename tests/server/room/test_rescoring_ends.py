"""Every way that a proposal ends, and what its clock does."""

from collections.abc import Callable
from typing import Final

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_server.room import events as e
from scopa_server.room.clock import PROPOSAL_MS, Deadline, deadlines, decision
from scopa_server.room.decide import Expired, Settle
from scopa_server.room.stored import dump, load
from support.proposals import NO, PROPOSE, YES, deal_over, proposed
from support.tables import Table


def _ready(table: Table) -> None:
    table.all_ready()


def _time(table: Table) -> None:
    table.do(None, Expired("proposal", decision(table.room)))


def _settled(table: Table) -> None:
    """The one who has not seen the count goes offline."""
    for seat in (0, 1):
        table.do(seat, c.Ready(deal=1))
    table.online -= {2}
    table.do(None, Settle())


ENDS: Final[dict[str, Callable[[Table], object]]] = {
    "silence": _time,
    "declined": lambda table: table.do(2, NO),
    "proposer leaves": lambda table: table.do(1, c.Leave()),
    "asked leaves": lambda table: table.do(2, c.Leave()),
    "unseated": lambda table: table.do(0, c.Unseat(seat=2, name="Carla")),
    "next deal": _ready,
    "nobody else waits": _settled,
    "match ended": lambda table: table.do(0, c.EndMatch()),
}


@pytest.mark.parametrize("paused", [False, True])
@pytest.mark.parametrize("some_agreed", [False, True])
@pytest.mark.parametrize("end", ENDS)
def test_every_way_a_proposal_comes_to_nothing(end: str, some_agreed: bool, paused: bool) -> None:
    table = proposed()
    if some_agreed:
        table.do(0, YES)
    if paused:
        table.do(0, c.Pause())
        table.do(1, c.Unpause())
    before = len(table.log)
    ENDS[end](table)
    events = [event for _, page in table.log[before:] for event in e.read_events(page)]
    assert sum(isinstance(event, e.ProposalDropped) for event in events) == 1
    assert table.room.proposed is None
    assert table.view(0).proposal is None
    assert table.room.rules.primiera == "scale"
    assert table.code(0, NO) is ErrorCode.NO_PROPOSAL


@pytest.mark.parametrize(
    "sits", [lambda table: table.join(2, "Nina"), lambda table: table.do(0, c.SeatBot(seat=2))]
)
def test_whoever_sits_down_ends_it(sits: Callable[[Table], e.Events]) -> None:
    table = deal_over()
    table.do(2, c.Leave())
    table.do(1, PROPOSE)
    events = sits(table)
    assert isinstance(events[0], e.ProposalDropped)
    assert table.room.proposed is None


def test_the_next_deals_clock_waits_for_it() -> None:
    table = deal_over(players=2).set(next_deal_seconds=5)
    late = Expired("next_deal", decision(table.room))
    table.do(1, PROPOSE)
    clock = Deadline("proposal", PROPOSAL_MS)
    assert deadlines(table.room, table.online) == (clock,)
    assert table.do(None, late) == ()
    begun = table.room.clock_from
    table.set(next_deal_seconds=7)
    assert table.room.clock_from == begun
    _time(table)
    assert deadlines(table.room, table.online) == (Deadline("next_deal", 7000),)
    assert table.room.clock_from == table.room.at
    assert table.do(None, Expired("next_deal", decision(table.room)))
    assert table.phase() == "playing"


def test_a_clock_of_a_past_proposal_changes_nothing() -> None:
    table = proposed()
    late = Expired("proposal", decision(table.room))
    table.do(0, NO)
    assert table.do(None, late) == ()
    table.do(1, PROPOSE)
    assert table.do(None, late) == ()
    assert table.room.proposed is not None


def test_a_proposal_that_would_meet_the_next_deal_is_dropped_with_it() -> None:
    """The store failed just when the last who was not ready went; now somebody proposes."""
    table = deal_over()
    for seat in (0, 1):
        table.do(seat, c.Ready(deal=1))
    table.online -= {2}
    events = table.do(1, PROPOSE)
    assert [type(event) for event in events] == [e.Proposed, e.ProposalDropped, e.Dealt]
    assert table.room.proposed is None


def test_an_open_proposal_is_read_back() -> None:
    table = proposed()
    table.do(0, YES)
    assert load(dump(table.room)) == table.room
    table.room = load(dump(table.room))
    table.do(2, YES)
    assert table.room.rules.primiera == "off"

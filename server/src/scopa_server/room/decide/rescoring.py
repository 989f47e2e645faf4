"""Counting a match again under other scoring rules, when all agree (rulebook, Rescoring)."""

from collections.abc import Mapping
from typing import Any

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_server.room import events as e
from scopa_server.room.context import Actor, Context
from scopa_server.room.machine import TRANSITIONS
from scopa_server.room.refused import Refused
from scopa_server.room.state import Proposal, Room
from scopa_server.rules.count import count_deal
from scopa_server.rules.match import standings
from scopa_server.rules.record import SCORING_FIELDS, Rules

from . import said
from .counting import as_counted
from .rules import checked, merged


def propose(room: Room, actor: Actor, command: c.Propose, context: Context) -> e.Events:
    """Ask the others to count the match again; with nobody to ask it is done at once."""
    rules = _wanted(room, command.rules)
    if room.proposed is not None:
        raise said.proposal_open(room, room.proposed.by)
    changes = _changes(room.rules, rules)
    asked = [
        number
        for number, seat in enumerate(room.seats)
        if seat.kind == "person" and number != actor.seat
    ]
    if not asked:
        return _count_again(room, rules, changes)
    totals, _ = standings(rules, [deal.facts for deal in room.finished])
    last = room.proposal.id if room.proposal is not None else 0
    proposed = e.Proposed(
        proposal=last + 1,
        seat=actor.seat or 0,
        rules=changes,
        asked=tuple(asked),
        totals=totals[-1],
    )
    return (proposed,)


def is_proposed(room: Room, actor: Actor, command: c.Propose) -> bool:
    """Whether this seat has just that proposal open."""
    proposal, rules = room.proposed, _valid(room, command.rules)
    if proposal is None or rules is None:
        return False
    return proposal.by == actor.seat and proposal.rules == _changes(room.rules, rules)


def counts_so(room: Room, actor: Actor, command: c.Propose) -> bool:
    """Whether the room counts by these rules already."""
    return _valid(room, command.rules) == room.rules


def answer(room: Room, actor: Actor, command: c.Answer, context: Context) -> e.Events:
    """Agree to the open proposal, or decline it; the last to agree has it applied."""
    proposal = room.proposed
    if proposal is None or proposal.id != command.proposal:
        raise Refused(ErrorCode.NO_PROPOSAL, "That isn't proposed any more; look at the table.")
    seat = actor.seat
    if seat is None or seat not in proposal.asked:
        raise Refused(ErrorCode.NOT_ALLOWED, "This proposal doesn't ask you.")
    if not command.agree:
        return (e.ProposalDropped(seat=seat),)
    if proposal.waiting != (seat,):
        return (e.Agreed(seat=seat),)
    return (e.Agreed(seat=seat), *_apply(room, proposal))


def is_answered(room: Room, actor: Actor, command: c.Answer) -> bool:
    """Whether this seat gave the latest proposal just that answer."""
    proposal = room.proposal
    if proposal is None or proposal.id != command.proposal or actor.seat is None:
        return False
    if command.agree:
        return actor.seat in proposal.agreed and actor.seat != proposal.declined
    return actor.seat == proposal.declined


_FIXED = "shapes the play, so it stays while a match runs"


def _valid(room: Room, asked: Mapping[str, Any]) -> Rules | None:
    try:
        return _wanted(room, asked)
    except Refused:
        return None


def _wanted(room: Room, asked: Mapping[str, Any]) -> Rules:
    """The room's rules with these scoring fields. Raises Refused: bad_rules."""
    for field in asked:
        if field not in SCORING_FIELDS:
            known = field in Rules.__dataclass_fields__
            raise said.bad_rules(field, _FIXED if known else "there is no such rule")
    return checked(merged(room.overrides, asked))[2]


def _changes(present: Rules, rules: Rules) -> dict[str, bool | int | str]:
    """The scoring fields in which the rules differ."""
    return {
        field: getattr(rules, field)
        for field in sorted(SCORING_FIELDS)
        if getattr(rules, field) != getattr(present, field)
    }


def _apply(room: Room, proposal: Proposal) -> e.Events:
    return _count_again(room, _wanted(room, proposal.rules), proposal.rules)


def _count_again(room: Room, rules: Rules, changes: dict[str, bool | int | str]) -> e.Events:
    """The match's deals in order from their facts; only the latest can settle it."""
    assert room.count is not None, "a match is counted again after a deal"
    facts = [deal.facts for deal in room.finished]
    counts = [count_deal(rules, deal) for deal in facts]
    totals, side = standings(rules, facts)
    latest = as_counted(rules, room.count.deal, facts[-1], counts[-1], totals[-1], room.count.proof)
    points = tuple(tuple(side.total for side in count) for count in counts)
    rescored = e.Rescored(rules=changes, points=points, count=latest)
    return (rescored,) if side is None else (rescored, e.MatchWon(side=side, totals=totals[-1]))


_SETTLES = frozenset({e.Rescored, e.ProposalDropped})
_DROPS = frozenset({e.SeatTaken, e.SeatLeft, *TRANSITIONS["deal_over"]})
"""What an open proposal doesn't outlive."""


def with_dropped(room: Room, events: e.Events) -> e.Events:
    """Between deals: the events, an open proposal dropped before what it doesn't outlive."""
    told: list[e.LogEvent] = []
    is_open = room.proposed is not None
    for event in events:
        if is_open and type(event) in _DROPS:
            told.append(e.ProposalDropped())
            is_open = False
        told.append(event)
        is_open = isinstance(event, e.Proposed) or (is_open and type(event) not in _SETTLES)
    return tuple(told)

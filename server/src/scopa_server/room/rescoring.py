"""What becomes of a room when its match is counted again, or not (rulebook, Rescoring)."""

import dataclasses
from typing import Any

from msgspec.structs import replace

from scopa_server.rules.record import build

from . import events as e
from .clock import restart_clock
from .state import Proposal, Room


def proposed(room: Room, event: e.Proposed, at: int) -> Room:
    """A seat proposes, and agrees by that; the clock is the proposal's."""
    proposal = Proposal(
        id=event.proposal,
        by=event.seat,
        rules=event.rules,
        asked=event.asked,
        totals=event.totals,
        agreed=(event.seat,),
    )
    return restart_clock(replace(room, proposal=proposal), at)


def _open_proposal(room: Room) -> Proposal:
    assert room.proposed is not None, "a proposal is open"
    return room.proposed


def agreed(room: Room, event: e.Agreed, at: int) -> Room:
    """One of those who were asked agrees."""
    proposal = _open_proposal(room)
    return replace(room, proposal=replace(proposal, agreed=(*proposal.agreed, event.seat)))


def dropped(room: Room, event: e.ProposalDropped, at: int) -> Room:
    """The proposal is settled; the next deal is waited for anew."""
    dropped = replace(_open_proposal(room), open=False, declined=event.seat)
    return restart_clock(replace(room, proposal=dropped), at)


def rescored(room: Room, event: e.Rescored, at: int) -> Room:
    """The match stands as it counts under the new rules."""
    assert room.deal is not None, "a match is counted again after a deal"
    overrides: dict[str, Any] = {**room.overrides, **event.rules}
    given = {name: value for name, value in overrides.items() if name != "variant"}
    rules = build(overrides["variant"], given)
    finished = [
        replace(deal, points=points)
        for deal, points in zip(room.finished, event.points, strict=True)
    ]
    after = replace(
        room,
        overrides=overrides,
        rules=rules,
        # Its sweeps and piles are shown as they count now.
        deal=dataclasses.replace(room.deal, rules=rules),
        finished=tuple(finished),
        totals=tuple(event.count.totals),
        count=event.count,
        proposal=room.proposal and replace(room.proposal, open=False),
    )
    return restart_clock(after, at)


def without_answer(room: Room, number: int) -> Room:
    """Who comes next to a seat has not answered what its last person was asked."""
    past = room.proposal
    if past is None:
        return room
    agreed = tuple(seat for seat in past.agreed if seat != number)
    declined = None if past.declined == number else past.declined
    return replace(room, proposal=replace(past, agreed=agreed, declined=declined))

"""What the server itself asks of a room: clocks that ran out, people who went or came back."""

from typing import TypeAlias

from msgspec import Struct

from scopa_protocol.views import ClockKind
from scopa_server.room import events as e
from scopa_server.room.apply import advance
from scopa_server.room.clock import Decision, deadlines, decision
from scopa_server.room.context import Context
from scopa_server.room.state import Room

from .dealing import next_deal


class Expired(Struct, frozen=True):
    """A clock ran out; it names the decision that it was for."""

    kind: ClockKind
    decision: Decision


class GoneAway(Struct, frozen=True):
    """A person, by the token's hash, has had no connection for a while."""

    token: str

    def __repr__(self) -> str:
        """The type alone."""
        return "<GoneAway>"


class CameBack(Struct, frozen=True):
    """A seat's person, by the token's hash, is here, or acts again."""

    token: str

    def __repr__(self) -> str:
        """The type alone."""
        return "<CameBack>"


class Settle(Struct, frozen=True):
    """Somebody came or went unlogged: perhaps all who are present have seen the count."""


Internal: TypeAlias = Expired | GoneAway | CameBack | Settle


def decide_internal(room: Room, command: Internal, context: Context) -> e.Events:
    """Events for what the server noticed; none if it is past."""
    match command:
        case Expired():
            return _expired(room, command, context)
        case GoneAway(token):
            return _gone(room, room.seat_of(token), context)
        case CameBack(token):
            return back(room, room.seat_of(token))
        case Settle():
            return _settle(room, context.online, context)


def back(room: Room, seat: int | None) -> e.Events:
    """That a person acts again, if the log says otherwise."""
    if seat is None:
        return ()
    there = room.seats[seat]
    return (e.Back(seat=seat),) if there.away or there.stand_in else ()


def _gone(room: Room, seat: int | None, context: Context) -> e.Events:
    if seat is None or seat in context.online:
        return ()
    there = room.seats[seat]
    return (e.Away(seat=seat),) if there.holder is not None and not there.away else ()


def _expired(room: Room, command: Expired, context: Context) -> e.Events:
    running = {deadline.kind for deadline in deadlines(room, context.online)}
    if command.kind not in running or command.decision != decision(room):
        return ()
    if command.kind == "proposal":
        return (e.ProposalDropped(),)
    if command.kind == "next_deal":
        return next_deal(room, context)
    seat = room.awaited
    assert seat is not None, "the other clocks are for the seat to act"
    return (*_gone(room, seat, context), e.StoodIn(seat=seat))


def and_settle(room: Room, events: e.Events, online: frozenset[int], context: Context) -> e.Events:
    """Between deals: the events, and the next deal if it waits for nobody after them."""
    return (*events, *_settle(advance(room, room.seq, room.at, events), online, context))


def _settle(room: Room, online: frozenset[int], context: Context) -> e.Events:
    if room.phase != "deal_over" or room.paused_by is not None:
        return ()
    people = [seat for number, seat in enumerate(room.seats) if number in online]
    awaited = [seat for seat in people if seat.held_by is not None and not seat.stand_in]
    if awaited and all(seat.ready for seat in awaited):
        return next_deal(room, context)
    return ()

"""What the server itself asks of a room: clocks that ran out, people who went or came back."""

from typing import TypeAlias

from msgspec import Struct

from scopa_protocol.views import ClockKind
from scopa_server.room import events as e
from scopa_server.room.clock import Decision, decision
from scopa_server.room.context import Context
from scopa_server.room.state import Room

from .dealing import next_deal
from .playing import awaited


class Expired(Struct, frozen=True):
    """A clock ran out; it names the decision that it was for."""

    kind: ClockKind
    decision: Decision


class GoneAway(Struct, frozen=True):
    """A seat's person has had no connection for a while."""

    seat: int


class CameBack(Struct, frozen=True):
    """A seat's person is here, or acts again."""

    seat: int


class Settle(Struct, frozen=True):
    """Somebody came or went: perhaps all who are present have seen the count."""


Internal: TypeAlias = Expired | GoneAway | CameBack | Settle


def decide_internal(room: Room, command: Internal, context: Context) -> e.Events:
    """Events for what the server noticed; none if it is past."""
    match command:
        case Expired():
            return _expired(room, command, context)
        case GoneAway(seat):
            return (e.Away(seat=seat),) if _has_gone(room, seat, context) else ()
        case CameBack(seat):
            return back(room, seat)
        case Settle():
            return _settle(room, context)


def back(room: Room, seat: int) -> e.Events:
    """That a person acts again, if the log says otherwise."""
    there = room.seats[seat]
    return (e.Back(seat=seat),) if there.away or there.stand_in else ()


def _has_gone(room: Room, seat: int, context: Context) -> bool:
    there = room.seats[seat]
    return there.kind == "person" and not there.away and seat not in context.online


def _expired(room: Room, command: Expired, context: Context) -> e.Events:
    if room.paused_by is not None or command.decision != decision(room):
        return ()
    if room.phase == "deal_over":
        return next_deal(room, context)
    seat = room.to_play
    if seat is None or room.seats[seat].served:
        return ()
    gone: e.Events = (e.Away(seat=seat),) if _has_gone(room, seat, context) else ()
    return (*gone, e.StoodIn(seat=seat))


def _settle(room: Room, context: Context) -> e.Events:
    if room.phase != "deal_over" or room.paused_by is not None:
        return ()
    people = awaited(room, context)
    if people and all(room.seats[seat].ready for seat in people):
        return next_deal(room, context)
    return ()

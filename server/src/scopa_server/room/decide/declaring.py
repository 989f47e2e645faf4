"""Decisions about hands declared (rulebook, Cirulla's declarations)."""

from scopa_protocol import commands as c
from scopa_server.room import events as e
from scopa_server.room.context import Actor, Context
from scopa_server.room.state import Room
from scopa_server.rules import declare as declaring
from scopa_server.rules.deal import Declared
from scopa_server.rules.declare import Declaration

from . import said


def declare(room: Room, actor: Actor, command: c.Declare, context: Context) -> e.Events:
    """Declare the hand just dealt, in or out of turn."""
    deal, seat = room.deal, actor.seat
    if deal is None or seat is None or command.deal != room.deal_number:
        raise said.stale()
    if command.batch != deal.batch:
        raise said.stale()
    if declaring.has_played(deal, seat):
        raise said.too_late_to_declare()
    if declaring.declared_in_batch(deal, seat) is not None:
        raise said.stale()
    chosen = Declaration(kind=command.kind, matta=command.matta)
    if chosen not in declaring.may_declare(deal, seat):
        raise said.nothing_to_declare()
    return (e.Declared(declared=declaring.outcome(deal, seat, chosen)),)


def is_declared(room: Room, actor: Actor, command: c.Declare) -> bool:
    """Whether this seat has declared just so, in this deal or the one before."""
    return any(
        done.seat == actor.seat
        and done.batch == command.batch
        and done.kind == command.kind
        and done.matta == command.matta
        for done in _declared(room, command.deal)
    )


def _declared(room: Room, deal: int) -> tuple[Declared, ...]:
    if room.deal is not None and deal == room.deal_number:
        return room.deal.declared
    return room.past.declared if room.past is not None and room.past.deal == deal else ()

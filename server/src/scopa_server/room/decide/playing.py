"""Decisions at the table: a card played, the count seen."""

from typing import Any

from scopa_protocol import commands as c
from scopa_server.room import events as e
from scopa_server.room.context import Actor, Context
from scopa_server.room.state import Room
from scopa_server.rules import captures
from scopa_server.rules import deal as deals

from . import said
from .dealing import after_play

OPTIONS_SHOWN = 64
"""Captures listed for one card, at most (protocol, view.options)."""


def play(room: Room, actor: Actor, command: c.Play, context: Context) -> e.Events:
    """Play a card (rulebook, A turn)."""
    deal = room.deal
    if deal is None or command.deal != room.deal_number or command.turn != deal.turn:
        raise said.stale()
    seat = actor.seat
    if seat is None or deal.to_play != seat:
        raise said.not_your_turn(room)
    take = tuple(command.take)
    fault = captures.check(room.rules, deal.hands[seat], deal.table, command.card, take, deal.named)
    if fault is not None:
        raise said.refused_play(fault, _details(room, deal, fault, command.card))
    played = deals.outcome(deal, command.card, take, auto=actor.auto)
    fact = e.Played(play=played)
    if not deals.is_last_of_hands(deal):
        return (fact,)
    return (fact, *after_play(room, deals.play(deal, played), context))


def _details(room: Room, deal: deals.Deal, fault: str, card: str) -> dict[str, Any] | None:
    if fault not in {"must_capture", "illegal_capture"} or room.settings.hints == "off":
        return None
    sets = captures.options(room.rules, deal.table, card, matta=deal.named, limit=OPTIONS_SHOWN)
    return {"options": [list(cards) for cards in sets]}


def is_played(room: Room, actor: Actor, command: c.Play) -> bool:
    """Whether this seat has played just so, in this deal or the one before."""
    done = _plays(room, command.deal)
    if not 1 <= command.turn <= len(done):
        return False
    past = done[command.turn - 1]
    return (
        past.seat == actor.seat
        and past.card == command.card
        and set(past.take) == set(command.take)
    )


def _plays(room: Room, deal: int) -> tuple[deals.Play, ...]:
    if room.deal is not None and deal == room.deal_number:
        return room.deal.plays
    return room.past.plays if room.past is not None and room.past.deal == deal else ()


def ready(room: Room, actor: Actor, command: c.Ready, context: Context) -> e.Events:
    """The count has been seen."""
    if command.deal != room.deal_number:
        raise said.stale()
    return (e.Readied(seat=actor.seat or 0, deal=command.deal),)


def is_ready(room: Room, actor: Actor, command: c.Ready) -> bool:
    """Whether this seat said so before, of this deal or the one before."""
    past = room.past
    return past is not None and past.deal == command.deal and actor.seat in past.ready

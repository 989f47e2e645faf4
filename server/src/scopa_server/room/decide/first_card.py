"""Decisions about the deal's first card (rulebook, The deal 6)."""

from scopa_protocol import commands as c
from scopa_server.room import events as e
from scopa_server.room.context import Actor, Context
from scopa_server.room.state import FirstCard, Room
from scopa_server.rules import opening

from . import said
from .dealing import deal_out


def choose(room: Room, actor: Actor, command: c.FirstCard, context: Context) -> e.Events:
    """Keep the first card or refuse it, and deal."""
    offered, asked = room.offered, room.asked
    if offered is None or asked is None or command.deal != room.deal_number:
        raise said.stale()
    if actor.seat != asked:
        raise said.not_your_turn(room)
    assert room.shuffle is not None, "the first card is a deck's"
    chosen: e.LogEvent = (
        e.FirstCardKept(seat=asked)
        if command.keep
        else e.FirstCardLaid(seat=asked, card=offered.deck[0])
    )
    begun = opening.choose(offered, laid=not command.keep)
    dealt = deal_out(room, room.deal_number, offered.dealer, room.shuffle, context, laid=begun.laid)
    return (chosen, *dealt)


def is_chosen(room: Room, actor: Actor, command: c.FirstCard) -> bool:
    """Whether this seat has chosen just so, in this deal or one shortly before."""
    if actor.seat is None:
        return False
    return FirstCard(deal=command.deal, seat=actor.seat, keep=command.keep) in room.first_cards

"""Every command as a row: who may, in which phases, and what is decided."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from scopa_protocol import commands as c
from scopa_protocol.views import Phase
from scopa_server.room import events as e
from scopa_server.room.context import Actor, Context
from scopa_server.room.state import Room

from . import declaring, first_card, playing, rescoring, said, seating, table
from .internal import Internal, and_settle, back, decide_internal

Decide: TypeAlias = Callable[[Room, Actor, Any, Context], e.Events]
Test: TypeAlias = Callable[[Room, Actor, Any], bool]
Role: TypeAlias = Callable[[Room, Actor], None]

LOBBY: Final[frozenset[Phase]] = frozenset({"lobby", "match_over"})
MATCH: Final[frozenset[Phase]] = frozenset({"playing", "deal_over"})
PLAYING: Final[frozenset[Phase]] = frozenset({"playing"})
DEAL_OVER: Final[frozenset[Phase]] = frozenset({"deal_over"})
ANY: Final[frozenset[Phase]] = LOBBY | MATCH


def _anyone(room: Room, actor: Actor) -> None:
    """Seated or watching."""


def _seated(room: Room, actor: Actor) -> None:
    """A person with a seat, now or from the next deal, or the server for a seat."""
    if actor.seat is None or not (actor.auto or room.seats[actor.seat].held_by):
        raise said.not_seated()


def _with_cards(room: Room, actor: Actor) -> None:
    """A seat's person, or the server for a seat that it plays."""
    _seated(room, actor)
    seat = room.seats[actor.seat or 0]
    if not actor.auto:
        if seat.reserved is not None:
            raise said.waiting_for_cards()
    elif not seat.served:
        # Its person may have come back while the server was thinking.
        raise said.stale()


def _with_first_card(room: Room, actor: Actor) -> None:
    _with_cards(room, actor)
    if not room.rules.first_card_choice:
        raise said.no_first_card()


def _with_declarations(room: Room, actor: Actor) -> None:
    _with_cards(room, actor)
    if not room.rules.declarations:
        raise said.no_declarations()


def _host(room: Room, actor: Actor) -> None:
    _seated(room, actor)
    if room.host != actor.seat:
        raise said.not_host(room)


def _always(room: Room, actor: Actor, command: c.Command) -> bool:
    return True


def _never(room: Room, actor: Actor, command: c.Command) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Row:
    """How one command is decided.

    `repeat` recognises the same command sent again, before role and phase; `fulfilled` a wish
    that is already true, before the phase. `needs_hands`: not while a first card is awaited.
    `acts`: whether it shows that its person is back.
    """

    role: Role
    phases: frozenset[Phase]
    decide: Decide
    repeat: Test | None = None
    fulfilled: Test | None = None
    stops_when_paused: bool = False
    needs_hands: bool = False
    acts: Test = _always


COMMANDS: Final[Mapping[type[c.Command], Row]] = {
    c.Join: Row(_anyone, ANY, seating.join, acts=_never),
    c.Leave: Row(_anyone, ANY, seating.leave, acts=_never),
    c.Sit: Row(_seated, LOBBY, seating.sit, fulfilled=seating.sits),
    c.Arrange: Row(_host, LOBBY, seating.arrange, fulfilled=seating.arranged),
    c.Configure: Row(_host, ANY, table.configure),
    c.SeatBot: Row(_host, ANY, seating.seat_bot, fulfilled=seating.has_bot),
    c.Unseat: Row(_host, ANY, seating.unseat, fulfilled=seating.is_gone),
    c.StandIn: Row(
        _host, MATCH, seating.stand_in, fulfilled=seating.is_served, acts=seating.serves_another
    ),
    c.MakeHost: Row(_seated, ANY, seating.make_host, fulfilled=seating.is_host),
    c.Start: Row(_host, LOBBY, table.start, fulfilled=table.is_started),
    c.EndMatch: Row(_host, MATCH, table.end_match, fulfilled=table.is_ended),
    c.FirstCard: Row(
        _with_first_card,
        PLAYING,
        first_card.choose,
        repeat=first_card.is_chosen,
        stops_when_paused=True,
    ),
    c.Declare: Row(
        _with_declarations,
        PLAYING,
        declaring.declare,
        repeat=declaring.is_declared,
        stops_when_paused=True,
        needs_hands=True,
    ),
    c.Play: Row(
        _with_cards,
        PLAYING,
        playing.play,
        repeat=playing.is_played,
        stops_when_paused=True,
        needs_hands=True,
    ),
    c.Ready: Row(
        _seated, DEAL_OVER, playing.ready, repeat=playing.is_ready, stops_when_paused=True
    ),
    c.Pause: Row(_seated, MATCH, table.pause, fulfilled=table.is_paused),
    c.Unpause: Row(_seated, ANY, table.unpause, fulfilled=table.is_unpaused),
    c.Say: Row(_anyone, ANY, table.say, repeat=table.is_said),
    c.Propose: Row(
        _with_cards,
        DEAL_OVER,
        rescoring.propose,
        repeat=rescoring.is_proposed,
        fulfilled=rescoring.counts_so,
    ),
    # An answer to nothing is that in every phase.
    c.Answer: Row(_with_cards, ANY, rescoring.answer, repeat=rescoring.is_answered),
}


def decide(room: Room, actor: Actor, command: c.Command | Internal, context: Context) -> e.Events:
    """The events that a command comes to; none if it changes nothing. Raises Refused.

    Checks go in the protocol's order: exact repeat, role, phase, pause, then the command's own.
    """
    if isinstance(command, c.Command):
        events = _asked_for(room, actor, command, context)
    else:
        events = decide_internal(room, command, context)
    if not events or room.phase != "deal_over":
        return events
    return rescoring.with_dropped(room, _settled(room, actor, command, events, context))


def _asked_for(room: Room, actor: Actor, command: c.Command, context: Context) -> e.Events:
    row = COMMANDS[type(command)]
    if row.repeat is not None and row.repeat(room, actor, command):
        return ()
    row.role(room, actor)
    events = _decided(row, room, actor, command, context)
    if actor.auto or actor.seat is None:
        return events
    returned = back(room, actor.seat)
    return (*returned, *events) if returned and row.acts(room, actor, command) else events


def _settled(
    room: Room, actor: Actor, command: c.Command | Internal, events: e.Events, context: Context
) -> e.Events:
    """Between deals: the events, and the next deal if they leave nobody to wait for."""
    if not isinstance(command, c.Command):
        return and_settle(room, events, context.online, context)
    if actor.auto or actor.seat is None:
        return events
    return and_settle(room, events, context.online | {actor.seat}, context)


def _decided(row: Row, room: Room, actor: Actor, command: c.Command, context: Context) -> e.Events:
    if row.fulfilled is not None and row.fulfilled(room, actor, command):
        return ()
    if room.phase not in row.phases:
        raise said.stale() if _is_past(room, command) else said.wrong_phase(room)
    if row.needs_hands and room.asked is not None:
        raise said.stale() if _is_past(room, command) else said.first_card_awaited()
    if row.stops_when_paused and room.paused_by is not None:
        raise said.paused()
    return row.decide(room, actor, command, context)


def _is_past(room: Room, command: c.Command) -> bool:
    """Whether a command names an earlier deal than the one being played."""
    deal: int = getattr(command, "deal", room.deal_number)
    return room.phase == "playing" and deal < room.deal_number

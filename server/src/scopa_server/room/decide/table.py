"""Decisions about the table: its rules and settings, pauses, talk, match begin and end."""

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_protocol.text import clean_talk
from scopa_server.room import events as e
from scopa_server.room.context import Actor, Context
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room
from scopa_server.rules.deal import draw_dealer

from . import said
from .dealing import deal_anew
from .rules import checked, merged, settled


def configure(room: Room, actor: Actor, command: c.Configure, context: Context) -> e.Events:
    """Change rules, settings or passcode; what is not given stays."""
    variant, overrides = _asked_rules(room, command)
    settings = settled(room.settings, command.settings or {})
    if command.passcode and context.passcode is None:
        # It came from somebody who was not the host yet, so nobody has hashed it.
        raise said.stale()
    passcode = room.passcode if command.passcode is None else context.passcode
    passcode = None if command.passcode == "" else passcode
    if (
        {"variant": variant, **overrides} == room.overrides
        and settings == room.settings
        and passcode == room.passcode
    ):
        return ()
    return (
        e.Configured(variant=variant, overrides=overrides, settings=settings, passcode=passcode),
    )


def _asked_rules(room: Room, command: c.Configure) -> tuple[str, dict[str, object]]:
    present = dict(room.overrides)
    variant = present.pop("variant")
    if not command.rules or (room.in_match and _plays_by(room, command.rules)):
        return variant, present
    if room.in_match:
        raise Refused(
            ErrorCode.WRONG_PHASE, "Rules can be changed before a match, not while it runs."
        )
    variant, overrides, rules = checked(merged(room.overrides, command.rules))
    if any(seat.kind != "empty" for seat in room.seats[rules.players :]):
        raise said.bad_rules("players", "somebody sits on a seat that would go; move them first")
    return variant, overrides


def _plays_by(room: Room, asked: dict[str, object]) -> bool:
    """Whether the room plays by these rules already."""
    try:
        return checked(merged(room.overrides, asked))[2] == room.rules
    except Refused:
        return False


def start(room: Room, actor: Actor, command: c.Start, context: Context) -> e.Events:
    """Begin a match: draw for the dealer, then deal."""
    if any(seat.kind == "empty" for seat in room.seats):
        raise Refused(
            ErrorCode.SEATS_EMPTY, "Some seats are empty; wait for people, or seat bots there."
        )
    decks = (shuffle.deck for shuffle in context.shuffles)
    draws, dealer = draw_dealer(room.rules.players, decks)
    first = e.Shuffled(shuffle=next(context.shuffles))
    return (
        e.MatchStarted(match=room.match + 1),
        e.DealerDrawn(draws=tuple(draws), dealer=dealer),
        first,
        *deal_anew(room, dealer, first.shuffle, context),
    )


def is_started(room: Room, actor: Actor, command: c.Start) -> bool:
    """Whether a match runs already."""
    return room.in_match


def end_match(room: Room, actor: Actor, command: c.EndMatch, context: Context) -> e.Events:
    """Abandon the match."""
    return (e.MatchEnded(),)


def is_ended(room: Room, actor: Actor, command: c.EndMatch) -> bool:
    """Whether the match is over already."""
    return room.phase == "match_over"


def pause(room: Room, actor: Actor, command: c.Pause, context: Context) -> e.Events:
    """Stop the clocks."""
    return (e.Paused(seat=actor.seat or 0, used=context.used_ms),)


def is_paused(room: Room, actor: Actor, command: c.Pause) -> bool:
    """Whether the table is paused already."""
    return room.paused_by is not None


def unpause(room: Room, actor: Actor, command: c.Unpause, context: Context) -> e.Events:
    """Let the clocks go on."""
    return (e.Unpaused(seat=actor.seat or 0),)


def is_unpaused(room: Room, actor: Actor, command: c.Unpause) -> bool:
    """Whether the table isn't paused."""
    return room.paused_by is None


def say(room: Room, actor: Actor, command: c.Say, context: Context) -> e.Events:
    """Say something to the room."""
    if not _may_talk(room, actor):
        raise Refused(ErrorCode.TALK_OFF, _TALK_OFF[room.settings.talk])
    text = clean_talk(command.text)
    if text is None:
        raise Refused(ErrorCode.BAD_TEXT, "Say 1 to 280 characters that can be seen.")
    if command.key is not None and not 1 <= len(command.key) <= 64:
        raise Refused(ErrorCode.BAD_TEXT, "A key has 1 to 64 characters.")
    return (e.Said(name=_speaker(room, actor), seat=actor.seat, text=text, key=command.key),)


_TALK_OFF = {
    "between_deals": "Talk is for between the deals here.",
    "always": "Watchers don't talk here.",
    "off": "Talk is off in this room.",
}


def _may_talk(room: Room, actor: Actor) -> bool:
    if actor.seat is None and not room.settings.watchers_talk:
        return False
    return room.settings.talk == "always" or (
        room.settings.talk == "between_deals" and room.phase != "playing"
    )


def _speaker(room: Room, actor: Actor) -> str:
    holder = None if actor.seat is None else room.seats[actor.seat].holder
    return holder.name if holder else actor.name


def is_said(room: Room, actor: Actor, command: c.Say) -> bool:
    """Whether this speaker, on whatever seat, said something under that key before."""
    return command.key is not None and any(
        saying.key == command.key
        and (saying.seat is None) == (actor.seat is None)
        and saying.name == _speaker(room, actor)
        for saying in room.talk
    )

"""Refusals in words: what is wrong, and what a person can do about it."""

from typing import Any, Final

from scopa_protocol.codes import ErrorCode
from scopa_protocol.text import for_screen
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room

FIELD_SHOWN: Final = 40
"""Characters of an unknown field's name that a refusal repeats, at most."""


def not_seated() -> Refused:
    return Refused(ErrorCode.NOT_SEATED, "You have no seat here. Join the room to take one.")


def waiting_for_cards() -> Refused:
    return Refused(ErrorCode.NOT_ALLOWED, "You get cards with the next deal; wait for it.")


def not_host(room: Room) -> Refused:
    host = None if room.host is None else room.seats[room.host].holder
    whose = f"Only the host ({host.name}) can do that." if host else "Only the host can do that."
    return Refused(ErrorCode.NOT_HOST, whose)


def wrong_phase(room: Room) -> Refused:
    words = {
        "lobby": "The match has not begun yet.",
        "playing": "Not while a deal is being played.",
        "deal_over": "The deal is over; the next has not begun.",
        "match_over": "The match is over.",
    }
    return Refused(ErrorCode.WRONG_PHASE, words[room.phase])


def paused() -> Refused:
    return Refused(ErrorCode.PAUSED, "The table is paused; anyone seated can unpause it.")


def stale() -> Refused:
    return Refused(ErrorCode.STALE, "The table has moved on; look at it and choose again.")


def not_your_turn(room: Room) -> Refused:
    seat = room.awaited
    name = None if seat is None else room.seats[seat].name
    return Refused(ErrorCode.NOT_YOUR_TURN, f"It is {name or 'another seat'}'s turn; wait for it.")


def first_card_awaited() -> Refused:
    return Refused(
        ErrorCode.WRONG_PHASE, "Nothing is dealt yet: the first card is to be kept or refused."
    )


def no_first_card() -> Refused:
    return Refused(ErrorCode.NOT_ALLOWED, "By this table's rules no first card is offered.")


def no_declarations() -> Refused:
    return Refused(ErrorCode.NOT_ALLOWED, "By this table's rules no hand is declared.")


def too_late_to_declare() -> Refused:
    return Refused(
        ErrorCode.CANNOT_DECLARE,
        "A hand is declared before its first card is played; wait for the next one.",
    )


def nothing_to_declare() -> Refused:
    return Refused(ErrorCode.CANNOT_DECLARE, "Your cards can't be declared so.")


def proposal_open(room: Room, by: int) -> Refused:
    name = room.seats[by].name or "another seat"
    return Refused(ErrorCode.NOT_ALLOWED, f"{name} has a proposal open; only one at a time.")


def no_such_seat(room: Room) -> Refused:
    last = len(room.seats) - 1
    return Refused(ErrorCode.NO_SUCH_SEAT, f"There is no such seat; they are 0 to {last}.")


def seat_taken() -> Refused:
    return Refused(ErrorCode.SEAT_TAKEN, "Somebody has that seat; choose another.")


def bad_rules(field: str, reason: str) -> Refused:
    return _bad_field(ErrorCode.BAD_RULES, field, reason)


def bad_settings(field: str, reason: str) -> Refused:
    return _bad_field(ErrorCode.BAD_SETTINGS, field, reason)


def _bad_field(code: ErrorCode, field: str, reason: str) -> Refused:
    # A client may send anything as a field's name.
    named = for_screen(field[:FIELD_SHOWN])
    return Refused(code, f"{named}: {reason}", {"field": named})


def bad_name() -> Refused:
    return Refused(
        ErrorCode.BAD_NAME,
        "A name has 1 to 24 characters that can be seen; choose another.",
    )


def name_taken() -> Refused:
    return Refused(ErrorCode.NAME_TAKEN, "Somebody here has that name, or one that looks like it.")


def name_of_a_bot() -> Refused:
    return Refused(ErrorCode.NAME_TAKEN, "Bots go by that name, or one that looks like it.")


def name_mixed() -> Refused:
    return Refused(ErrorCode.BAD_NAME, "That name mixes alphabets; write it in one of them.")


def refused_play(code: str, details: dict[str, Any] | None = None) -> Refused:
    words = {
        "not_in_hand": "You don't hold that card.",
        "not_on_table": "That card is not on the table.",
        "must_capture": "That card can take something, so it must; choose what it takes.",
        "illegal_capture": "That card can't take those; choose again.",
    }
    return Refused(ErrorCode(code), words[code], details)

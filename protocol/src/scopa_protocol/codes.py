"""Error and close codes, and what a client may do about them."""

from enum import IntEnum, StrEnum
from typing import Final


class ErrorCode(StrEnum):
    """Why a command was refused."""

    BAD_MESSAGE = "bad_message"
    TOO_FAST = "too_fast"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    SERVER_FULL = "server_full"
    RESTARTING = "restarting"
    INTERNAL_ERROR = "internal_error"
    STORAGE_UNAVAILABLE = "storage_unavailable"
    UNKNOWN_ROOM = "unknown_room"
    ROOM_FULL = "room_full"
    WRONG_PASSCODE = "wrong_passcode"
    BAD_TOKEN = "bad_token"  # noqa: S105
    BAD_KEY = "bad_key"
    WATCHING_OFF = "watching_off"
    BAD_NAME = "bad_name"
    NAME_TAKEN = "name_taken"
    NO_SUCH_SEAT = "no_such_seat"
    SEAT_TAKEN = "seat_taken"
    BAD_TEXT = "bad_text"
    BAD_RULES = "bad_rules"
    BAD_SETTINGS = "bad_settings"
    NOT_IN_A_ROOM = "not_in_a_room"
    ALREADY_IN_A_ROOM = "already_in_a_room"
    NOT_SEATED = "not_seated"
    NOT_HOST = "not_host"
    NOT_ALLOWED = "not_allowed"
    SEATS_EMPTY = "seats_empty"
    WRONG_PHASE = "wrong_phase"
    PAUSED = "paused"
    TALK_OFF = "talk_off"
    NOT_YOUR_TURN = "not_your_turn"
    STALE = "stale"
    NOT_IN_HAND = "not_in_hand"
    NOT_ON_TABLE = "not_on_table"
    MUST_CAPTURE = "must_capture"
    ILLEGAL_CAPTURE = "illegal_capture"
    CANNOT_DECLARE = "cannot_declare"
    NO_PROPOSAL = "no_proposal"


RETRYABLE: Final = frozenset(
    {
        ErrorCode.TOO_FAST,
        ErrorCode.STORAGE_UNAVAILABLE,
        ErrorCode.RESTARTING,
        ErrorCode.SERVER_FULL,
    }
)


class CloseCode(IntEnum):
    """Why the server closes a connection."""

    LEFT = 1000
    GOING_AWAY = 1001
    POLICY = 1008
    TOO_BIG = 1009
    INTERNAL = 1011
    RESTART = 1012
    TRY_LATER = 1013
    SEAT_LOST = 4001
    ROOM_CLOSED = 4002
    REFUSED = 4003
    REPLACED = 4004


FINAL_CLOSES: Final = frozenset(
    {
        CloseCode.POLICY,
        CloseCode.TOO_BIG,
        CloseCode.SEAT_LOST,
        CloseCode.ROOM_CLOSED,
        CloseCode.REFUSED,
        CloseCode.REPLACED,
    }
)
"""Closes after which a client doesn't reconnect by itself."""

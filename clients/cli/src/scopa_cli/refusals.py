"""Every error code in words: what happened, and what to do next."""

from typing import Any, Final, cast

from scopa_protocol.codes import ErrorCode
from scopa_protocol.frames import Error
from scopa_protocol.views import View

from .screens.lobby import written

WORDS: Final[dict[str, str]] = {
    ErrorCode.BAD_MESSAGE: "The server couldn't read that. Type help for what can be typed.",
    ErrorCode.TOO_FAST: "That was too fast: wait a moment.",
    ErrorCode.TOO_MANY_CONNECTIONS: "Too many connections: close another client, or wait.",
    ErrorCode.SERVER_FULL: "The server is full: come back later, or use another server.",
    ErrorCode.RESTARTING: "The server is restarting: wait a minute.",
    ErrorCode.INTERNAL_ERROR: "The server had a fault of its own. Try again; tell whoever runs it.",
    ErrorCode.STORAGE_UNAVAILABLE: "The server can't save now: nothing was done.",
    ErrorCode.UNKNOWN_ROOM: "There is no such room: check the invite, or ask for a new one.",
    ErrorCode.ROOM_FULL: "Every seat is taken: ask the host for one, or use scopa watch.",
    ErrorCode.WRONG_PASSCODE: "The room needs its right passcode: ask the host, then --passcode.",
    ErrorCode.BAD_TOKEN: "The server doesn't know this seat any more: scopa join takes a new one.",
    ErrorCode.BAD_KEY: "Opening rooms here needs the server's right access key: --key asks for it.",
    ErrorCode.WATCHING_OFF: "The host must allow watching first (set watchers=table).",
    ErrorCode.BAD_NAME: "That name can't be used: choose another.",
    ErrorCode.NAME_TAKEN: "Somebody there has that name, or one too like it: choose another.",
    ErrorCode.NO_SUCH_SEAT: "There is no such seat: table shows the seats.",
    ErrorCode.SEAT_TAKEN: "That seat is taken: choose a free one.",
    ErrorCode.BAD_TEXT: "That can't be said: type 1 to 280 letters.",
    ErrorCode.BAD_RULES: "These rules can't be played.",
    ErrorCode.BAD_SETTINGS: "These settings can't be used.",
    ErrorCode.NOT_IN_A_ROOM: "You aren't in a room: use scopa join.",
    ErrorCode.ALREADY_IN_A_ROOM: "You are in a room already: quit first.",
    ErrorCode.NOT_SEATED: "Only those seated can do that: scopa join takes a seat.",
    ErrorCode.NOT_HOST: "Only the host can do that: ask them, or for host to be handed to you.",
    ErrorCode.NOT_ALLOWED: "That isn't allowed to you now.",
    ErrorCode.SEATS_EMPTY: "Seats are still empty: wait, or put bots there (bot SEAT).",
    ErrorCode.WRONG_PHASE: "That can't be done at this point of the match.",
    ErrorCode.PAUSED: "The game is paused: type unpause to go on.",
    ErrorCode.TALK_OFF: "Talk is off now: the room allows it between deals, or not at all.",
    ErrorCode.NOT_YOUR_TURN: "It isn't your turn: wait for it.",
    ErrorCode.STALE: "Things have moved on: type table, then choose again.",
    ErrorCode.NOT_IN_HAND: "You don't hold that card: type one of your hand's numbers.",
    ErrorCode.NOT_ON_TABLE: "That card isn't on the table: type table to see what is.",
    ErrorCode.MUST_CAPTURE: "That card must take something: type it with what it takes.",
    ErrorCode.ILLEGAL_CAPTURE: "That card can't take those.",
    ErrorCode.CANNOT_DECLARE: "You can't declare that now.",
    ErrorCode.NO_PROPOSAL: "Nothing is proposed any more.",
}
SAYS_MORE: Final = frozenset({ErrorCode.BAD_RULES, ErrorCode.BAD_SETTINGS, ErrorCode.BAD_MESSAGE})
"""Refusals whose reason only the server knows: its message is added."""
SAYS_BETTER: Final = frozenset(
    {
        ErrorCode.TOO_FAST,
        ErrorCode.SERVER_FULL,
        ErrorCode.ROOM_FULL,
        ErrorCode.BAD_NAME,
        ErrorCode.NAME_TAKEN,
        ErrorCode.NO_SUCH_SEAT,
        ErrorCode.BAD_TEXT,
        ErrorCode.NOT_ALLOWED,
        ErrorCode.WRONG_PHASE,
        ErrorCode.CANNOT_DECLARE,
    }
)
"""Refusals with several reasons, of which only the server knows which: its message is shown."""


def explain(error: Error, view: View | None = None) -> str:
    """A refusal in words, with what to do next."""
    text = WORDS.get(error.code)
    if text is None:
        return error.message or f"The server refused that ({error.code})."
    if error.code == ErrorCode.TALK_OFF and view is not None:
        return _talk_off(view)
    if error.code in SAYS_BETTER:
        return error.message.strip() or text
    if error.code in SAYS_MORE:
        return f"{text}{_reason(error)}"
    options = _options(error.details)
    return f"{text} {options}" if options else text


def _reason(error: Error) -> str:
    field = (error.details or {}).get("field")
    said = error.message.strip()
    place = f" ({written(field)})" if field and str(field) not in said else ""
    return f" {said}{place}" if said or place else ""


def _talk_off(view: View) -> str:
    if view.you is None and not view.settings.watchers_talk:
        return "Watchers can't talk in this room."
    if view.settings.talk == "between_deals":
        return "No talk during a deal, only after it. The host can change that (set talk=always)."
    return "Talk is off in this room: the host can change that (set talk=always)."


def _options(details: dict[str, Any] | None) -> str:
    options = (details or {}).get("options")
    if not isinstance(options, list):
        return ""
    takes = [
        " ".join(map(str, cast(list[object], take)))
        for take in cast(list[object], options)
        if isinstance(take, list) and take
    ]
    return f"It takes {' or '.join(takes)}." if takes else ""

"""Why a connection ended, in words, and whether to come back by oneself."""

from typing import Final

from msgspec import Struct

from scopa_protocol.codes import FINAL_CLOSES, RETRYABLE, CloseCode
from scopa_protocol.frames import Bye

INTERRUPTED: Final = 130
"""The exit status after Ctrl-C."""


class Ending(Struct, frozen=True, kw_only=True):
    """How a connection or the whole session ended.

    `seat_gone`: its token is worth nothing; `seat_unknown`: nor while the server's store is as it
    is; `left`: closed as for somebody who left.
    """

    why: str
    retry: bool = False
    seat_gone: bool = False
    seat_unknown: bool = False
    left: bool = False
    code: int = 0
    """The exit code that it means for the program."""


WORDS: Final[dict[int, str]] = {
    CloseCode.LEFT: "The server closed the table's connection.",
    CloseCode.GOING_AWAY: "The server restarts.",
    CloseCode.POLICY: "The server closed the connection: too many or unreadable commands.",
    CloseCode.TOO_BIG: "The server closed the connection: a command was too long.",
    CloseCode.INTERNAL: "The server had a fault of its own.",
    CloseCode.RESTART: "The server restarts.",
    CloseCode.TRY_LATER: "The server is busy.",
    CloseCode.SEAT_LOST: "Your seat was given up or taken away: scopa join takes another.",
    CloseCode.ROOM_CLOSED: "The server has this room no more: ask for a new invite, or host.",
    CloseCode.REFUSED: "The server refused access.",
    CloseCode.REPLACED: "This seat was opened in too many places; this, the oldest, was closed.",
}


def verdict(code: int | None, bye: Bye | None, *, silent: bool = False) -> Ending:
    """What a close means. Either of `bye.retry` and the close code can forbid coming back."""
    if silent:
        return Ending(why="The server doesn't answer.", retry=True)
    final = code in FINAL_CLOSES or code == CloseCode.LEFT or (bye is not None and not bye.retry)
    if code == CloseCode.SEAT_LOST or code == CloseCode.ROOM_CLOSED:
        return Ending(why=WORDS[code], seat_gone=True, code=1)
    why = WORDS.get(code or 0) or "The connection dropped."
    if bye is not None and bye.message and bye.code not in RETRYABLE:
        why = bye.message
    left = code == CloseCode.LEFT
    return Ending(why=why, retry=not final, left=left, code=1 if final else 0)


def status_refused(status: int) -> Ending:
    """The address answers, but not with this protocol."""
    if status == 429 or status >= 500:
        return Ending(why=f"The server is busy or restarting (HTTP {status}).", retry=True)
    why = f"Something answers there, but no Scopa server (HTTP {status}). Check the address."
    return Ending(why=why, code=1)


def unreachable(endpoint: str, fault: Exception) -> Ending:
    """No connection came about."""
    reason = "it doesn't answer" if isinstance(fault, TimeoutError) else _reason(fault)
    return Ending(why=f"No connection to {endpoint}: {reason}.", retry=True, code=1)


def _reason(fault: Exception) -> str:
    if isinstance(fault, ConnectionRefusedError) or "Connect call failed" in str(fault):
        return "nothing listens there"
    if isinstance(fault, ConnectionError | EOFError):
        return "it hung up; check whether it is ws:// or wss://"
    text = str(getattr(fault, "strerror", None) or fault).strip().rstrip(".")
    return text or type(fault).__name__

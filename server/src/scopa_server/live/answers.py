"""Answers to a visitor's command that aren't the table itself, and counting them."""

from math import ceil

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_protocol.frames import Error
from scopa_server.metrics import KINDS, OK, Metrics
from scopa_server.room.refused import Refused

from .visitor import Visitor


class Answers:
    """Refuses and counts."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def refuse(self, visitor: Visitor, command: c.Command, refusal: Refused) -> None:
        """Answer a command with why it can't be followed."""
        visitor.refused = refusal.code
        visitor.outbox.reply(
            Error(
                re=command.id,
                code=refusal.code.value,
                message=refusal.message,
                details=refusal.details,
            )
        )
        self.count(command, refusal.code.value)

    def count(self, command: c.Command, outcome: str = OK) -> None:
        """A command was answered."""
        self._metrics.answered(KINDS[type(command)], outcome)


def bad_token() -> Refused:
    """The same words for a wrong token and an unknown room."""
    return Refused(
        ErrorCode.BAD_TOKEN, "That seat isn't held by this client; join with the invite instead."
    )


def unknown(command: c.Command) -> Refused:
    """That there is no such room, as far as whoever asks may know."""
    if isinstance(command, c.Resume):
        return bad_token()
    return Refused(
        ErrorCode.UNKNOWN_ROOM, "There is no room of that code; ask for the invite again."
    )


def restarting() -> Refused:
    """That this process serves the room no more."""
    return Refused(ErrorCode.RESTARTING, "The server restarts; try again in a moment.")


def too_fast(message: str, seconds: float) -> Refused:
    """That a client must wait, and how long."""
    return Refused(ErrorCode.TOO_FAST, message, {"retry_ms": ceil(seconds * 1000)})


def gone(command: c.Command) -> Refused:
    """That nobody has the room any more."""
    if isinstance(command, c.Resume):
        return bad_token()
    return Refused(ErrorCode.UNKNOWN_ROOM, "The server no longer has this room; open another.")


def has_left() -> Refused:
    """That a visitor is not in the room any more."""
    return Refused(ErrorCode.NOT_IN_A_ROOM, "You have left the room.")


def our_fault() -> Refused:
    """That the server erred."""
    return Refused(
        ErrorCode.INTERNAL_ERROR, "Something went wrong on the server; the table is as it was."
    )

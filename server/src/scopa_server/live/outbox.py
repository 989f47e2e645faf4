"""What waits to be sent to one connection: a few replies, and at most one view.

A room never awaits a socket. It leaves its latest view here; a newer one replaces one not yet
taken, with the events of both, so a connection that reads slowly costs nobody anything.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from scopa_protocol.codes import CloseCode
from scopa_protocol.frames import Bye, ServerFrame

from .showing import Update

REPLIES_KEPT: Final = 64
"""Replies that may wait; a connection with more isn't reading."""

NOT_READING: Final = "not_reading"


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of a connection."""

    code: CloseCode
    bye: Bye


class Outbox:
    """Filled by rooms and the gateway, emptied by whoever writes to the connection.

    `filled` is called when there is something to take: that may be done there and then. `write`
    is offered an update before that, when nothing else waits, and returns whether it took it.
    """

    def __init__(self) -> None:
        # Empty, a list takes next to nothing; a deque would be a good part of a connection.
        self._replies: list[ServerFrame] = []
        self._update: Update | None = None
        self.closing: Closing | None = None
        """How the connection ends, once that is decided."""
        self._closed = False
        self.filled: Callable[[], None]
        self.write: Callable[[Update], bool]
        self.unheeded()
        self.replied = 0
        """How many replies there were so far."""

    def unheeded(self) -> None:
        """Nobody writes what there is, not yet or not any more."""
        self.filled, self.write = _nobody, _not_yet

    def reply(self, frame: ServerFrame) -> None:
        """Send a frame that stands by itself."""
        if self.closing is not None:
            return
        if len(self._replies) >= REPLIES_KEPT:
            self.close(CloseCode.POLICY, NOT_READING, "This connection doesn't read.")
            return
        self.replied += 1
        self._replies.append(frame)
        self.filled()

    def show(self, update: Update) -> None:
        """Send an update; one that still waits is joined with it."""
        if self.closing is not None:
            return
        if self._update is not None:
            self._update = update.after(self._update)
        elif self._replies or not self.write(update):
            self._update = update
        else:
            return
        self.filled()

    def close(self, code: CloseCode, reason: str, message: str, *, retry: bool = False) -> None:
        """Send what waits, say goodbye, close. The first close counts."""
        if self.closing is None:
            self.closing = Closing(code, Bye(code=reason, message=message, retry=retry))
            self.filled()

    @property
    def waits(self) -> bool:
        """Whether a frame is still to be taken."""
        return bool(self._replies) or self._update is not None

    def take(self) -> ServerFrame | Update | Closing | None:
        """The next frame to send, replies first, or how to close when all is sent; None: nothing.

        How to close is given once.
        """
        if self._replies:
            return self._replies.pop(0)
        if self._update is not None:
            update, self._update = self._update, None
            return update
        if self.closing is None or self._closed:
            return None
        self._closed = True
        return self.closing


def _nobody() -> None:
    """Nobody writes yet."""


def _not_yet(_: Update) -> bool:
    """Nobody writes yet."""
    return False

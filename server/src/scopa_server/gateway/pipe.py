"""A connection that takes messages without being waited for."""

import struct
from collections.abc import Callable
from typing import Any, Final

from websockets.asyncio.connection import broadcast
from websockets.asyncio.server import ServerConnection
from websockets.frames import Opcode
from websockets.protocol import OPEN

_FINAL: Final = 0x80
_MEDIUM: Final = 126
_LONG: Final = 1 << 16
_SHORT_HEAD: Final = struct.Struct("!BB").pack
_HEAD: Final = struct.Struct("!BBH").pack


class Pipe(ServerConnection):
    """A WebSocket connection to push messages down.

    `stuck` is called when it is `paused` since its client doesn't read, `freed` when it goes on.
    """

    def __init__(self, *args: Any, **limits: Any) -> None:
        super().__init__(*args, **limits)
        self.stuck: Callable[[], None] | None = None
        self.freed: Callable[[], None] | None = None

    def pause_writing(self) -> None:
        """What was written waits, and is a lot."""
        super().pause_writing()
        if self.stuck is not None:
            self.stuck()

    def resume_writing(self) -> None:
        """Most of what was written is on its way."""
        super().resume_writing()
        if self.freed is not None:
            self.freed()

    def push(self, message: bytes, *, text: bool) -> bool:
        """Write a message, whole and at once; false if the pipe is closing, and nothing goes down.

        The library's public way to do so is `broadcast`. It spends more on a frame's head than a
        room on a view, so a plain frame is written here, as RFC 6455 has it (5.2).
        """
        protocol, size = self.protocol, len(message)
        if protocol.state is not OPEN or self.transport.is_closing():
            return False
        if protocol.extensions or protocol.debug or self.send_in_progress or size >= _LONG:
            broadcast([self], message, text=text)
            return True
        first = _FINAL | (Opcode.TEXT if text else Opcode.BINARY)
        head = _SHORT_HEAD(first, size) if size < _MEDIUM else _HEAD(first, _MEDIUM, size)
        self.transport.write(head + message)
        return True

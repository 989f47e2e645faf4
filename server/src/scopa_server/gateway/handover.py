"""What goes with a connection that another process of this machine goes on with.

The line itself goes as an open file; the client notices nothing. Here is all that touches the
library's insides: where its reader stands, and how a connection begins that is open already.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace
from websockets.datastructures import Headers
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import OPEN
from websockets.server import ServerProtocol
from websockets.streams import StreamReader
from websockets.typing import Subprotocol

from .requests import OneRequest

_ASKED: Final = Request("", Headers())
_ANSWERED: Final = Response(101, "", Headers())
"""Of every connection whose hands are shaken."""
_WAITS: Final = StreamReader.at_eof.__code__
MOST_UNREAD: Final = 32 * 1024
"""Bytes that a client may have sent already beside its line; who has sent more stays."""


class Handover(Struct, frozen=True, kw_only=True):
    """An open connection without its line.

    `address`, `local` and `counted` are its visitor's. `received`: the frames that nobody has
    followed yet, the command's own first. The rest is there so that nobody begins anew by moving:
    `idle` and `stays`, the seconds left to who enters no room; refusals for flooding; and the
    seconds of each allowance that are used.
    """

    id: bytes
    subprotocol: str | None
    address: str
    local: bool = False
    counted: str | None = None
    invite_base: str
    received: bytes
    idle: float
    stays: float
    flood: int = 0
    pace: float = 0.0
    control_pace: float = 0.0
    moves: float = 0.0

    def __repr__(self) -> str:
        # A command may hold a token or a passcode.
        return f"<Handover of {self.id.hex()[:8]}>"


class Movable(OneRequest):
    """A connection that may come from another process, open as it was there, or go to one."""

    __slots__ = ("came", "left", "place")

    def __init__(
        self, protocol: ServerProtocol, *args: Any, came: Handover | None = None, **limits: Any
    ) -> None:
        super().__init__(protocol, *args, **limits)
        self.came = came
        """What it came with; what was received, which may hold secrets, until that is read."""
        self.left = False
        """Another process has the line."""
        self.place: Callable[[bool], None] | None = None
        """Gives back the place that was kept for it; told whether it is served."""
        if came is not None:
            self.forget_handshake()

    def forget_handshake(self) -> None:
        """Hold what was asked and answered no longer: cookies, and a good part of a connection."""
        self.request, self.response = _ASKED, _ANSWERED

    async def handshake(self, *how: Any, **more: Any) -> None:
        """Shake hands, if nobody has."""
        if self.came is None:
            await super().handshake(*how, **more)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin with what was received already."""
        super().connection_made(transport)
        if self.came is not None:
            received = self.came.received
            self.came = replace(self.came, received=b"")
            self.data_received(received)
            # Told to pause before it has begun to read, uvloop reads on.
            self.loop.call_soon(self._pause_if_full)

    def _pause_if_full(self) -> None:
        if self.recv_messages.paused:
            self.hold()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go."""
        self.settle(served=False)
        super().connection_lost(exc)

    def settle(self, *, served: bool) -> None:
        """It is served, or gone: no place need be kept for it any more."""
        place, self.place = self.place, None
        if place is not None:
            place(served)

    def hold(self) -> None:
        """Read nothing more for now."""
        if not self.transport.is_closing():
            self.transport.pause_reading()

    def go_on(self) -> None:
        """Read on, unless too much is unread."""
        if not (self.transport.is_closing() or self.recv_messages.paused):
            self.transport.resume_reading()

    @property
    def is_between(self) -> bool:
        """Whether it is open, and what comes next begins a frame."""
        return (
            self.protocol.state is OPEN
            and not self.transport.is_closing()
            and _between_frames(self.protocol)
        )

    @property
    def is_written(self) -> bool:
        """Whether all that was to be written is on its way, once it is flushed."""
        return not (self.paused or self.send_in_progress or self.transport.get_write_buffer_size())

    @property
    def control_pace(self) -> float:
        """Seconds of the allowance for what is no message that are used."""
        return 0.0

    @property
    def fileno(self) -> int:
        """The line's file."""
        held: int = self.transport.get_extra_info("socket").fileno()
        return held

    def unread(self, message: str | bytes) -> bytes:
        """A message that was just read, and all that was read behind it, as its client's frames."""
        text = isinstance(message, str)
        data = message.encode() if isinstance(message, str) else message
        first = Frame(Opcode.TEXT if text else Opcode.BINARY, data)
        frames = [first, *self.recv_messages.frames.queue]
        return b"".join(frame.serialize(mask=True) for frame in frames)

    def leave(self) -> None:
        """Let go: another process has the line, and it stays open there."""
        self.left = True
        # Our file is closed; nothing is written, nor is the line shut down.
        self.transport.abort()


def opened(came: Handover, most: int) -> ServerProtocol:
    """The state of a connection whose hands were shaken elsewhere. `most`: bytes of a message."""
    protocol = ServerProtocol(state=OPEN, max_size=most)
    protocol.id = UUID(bytes=came.id)
    protocol.subprotocol = None if came.subprotocol is None else Subprotocol(came.subprotocol)
    return protocol


def _between_frames(protocol: ServerProtocol) -> bool:
    """Whether the library's parser waits for a frame's first byte."""
    step: Any = protocol.parser
    while step.gi_yieldfrom is not None:
        step = step.gi_yieldfrom
    waits: bool = step.gi_code is _WAITS
    return waits and not protocol.reader.buffer

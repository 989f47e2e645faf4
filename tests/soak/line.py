"""One light connection: only what a player needs is decoded, and nothing is kept."""

import asyncio
from typing import Any, Final

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

HONEST: Final = "127.0.0.1"
"""Where those of good will come from; others come from elsewhere, and hit limits of their own."""
PATIENCE: Final = 60
"""Seconds in which an answer has to come, on however slow a machine."""


class Offered(msgspec.Struct, frozen=True):
    """What may be declared."""

    kind: str
    matta: int | None = None


class Chair(msgspec.Struct, frozen=True):
    """A seat, as far as anybody cares here."""

    kind: str
    ready: bool


class View(msgspec.Struct, frozen=True):
    """A view, as far as anybody cares here."""

    phase: str
    deal: int
    batch: int
    turn: int
    seq: int
    seats: list[Chair]
    host: int | None = None
    you: int | None = None
    to_play: int | None = None
    first_card: str | None = None
    options: dict[str, list[list[str]]] | None = None
    declarations: list[Offered] = []


class Frame(msgspec.Struct, frozen=True):
    """Any frame of the server."""

    type: str
    re: int | list[int] | None = None
    code: str | None = None
    room: str | None = None
    retry: bool | None = None
    view: View | None = None

    def answers(self, number: int) -> bool:
        """Whether it answers that command."""
        return number in self.re if isinstance(self.re, list) else self.re == number


_READ: Final = msgspec.json.Decoder(Frame)
_WRITE: Final = msgspec.json.Encoder()


async def dial(port: int, source: str, **more: Any) -> ClientConnection:
    """A bare connection from one of this machine's addresses."""
    return await connect(
        f"ws://127.0.0.1:{port}/ws",
        subprotocols=[Subprotocol("scopa.v1.json")],
        proxy=None,
        compression=None,
        local_addr=(source, 0),
        open_timeout=PATIENCE,
        ping_interval=None,
        close_timeout=1,
        **more,
    )


class Line:
    """A connection; `view` is the latest."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.view: View | None = None
        self._number = 0

    @classmethod
    async def open(cls, port: int, source: str = HONEST) -> "Line":
        """Connect, and be greeted."""
        line = cls(await dial(port, source))
        await line.frame()
        return line

    async def frame(self, within: float = PATIENCE) -> Frame:
        """The next frame. Raises TimeoutError."""
        async with asyncio.timeout(within):
            data = await self.socket.recv()
        frame = _READ.decode(data)
        self.view = frame.view or self.view
        return frame

    async def ask(self, kind: str, /, **fields: Any) -> Frame:
        """Send a command and wait for its answer."""
        self._number += 1
        command = {"type": kind, "id": self._number, **fields}
        await self.socket.send(_WRITE.encode(command), text=True)
        while True:
            frame = await self.frame()
            if frame.answers(self._number):
                return frame

    def drop(self) -> None:
        """Be cut off, without a word."""
        self.socket.transport.abort()

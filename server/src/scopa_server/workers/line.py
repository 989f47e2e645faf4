"""What a supervisor and a worker say to each other: messages over a pair of sockets.

The supervisor begins with the settings (`Config`, and the number of the file over which it
introduces other workers, if it does; pickled by itself for its own child). The worker
answers with why it can't start, or with nothing once it serves. Then it answers questions, one at a
time. Either notices at once when the other is gone.
"""

import asyncio
import socket
from enum import Enum
from typing import Self

_LENGTH = 4


class Question(bytes, Enum):
    """What a supervisor asks a worker that serves."""

    READY = b"ready"
    """Why it can't take players; the answer is empty if it can."""
    METRICS = b"metrics"
    """Its metrics, as Prometheus reads them."""


class Gone(Exception):
    """There is nobody at the other end."""


class Line:
    """One end of it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def over(cls, end: socket.socket) -> Self:
        """Speak over a connected socket, which is the line's from then on."""
        return cls(*await asyncio.open_unix_connection(sock=end))

    async def send(self, message: bytes) -> None:
        """Send one message; raises `Gone`."""
        try:
            self._writer.write(framed(message))
            await self._writer.drain()
        except OSError:
            raise Gone from None

    async def receive(self) -> bytes:
        """Return the next message; raises `Gone`."""
        try:
            size = int.from_bytes(await self._reader.readexactly(_LENGTH))
            return await self._reader.readexactly(size)
        except (OSError, asyncio.IncompleteReadError):
            raise Gone from None

    def close(self) -> None:
        """End it."""
        self._writer.close()


def framed(message: bytes) -> bytes:
    """The message as it goes over the sockets."""
    return len(message).to_bytes(_LENGTH) + message


def first(end: socket.socket) -> bytes:
    """The first message, read before any loop runs; raises `Gone`."""
    with end.makefile("rb", buffering=0) as file:
        head = file.read(_LENGTH) or b""
        message = b""
        while len(message) < int.from_bytes(head):
            part = file.read(int.from_bytes(head) - len(message))
            if not part:
                raise Gone
            message += part
    if not message:
        raise Gone
    return message

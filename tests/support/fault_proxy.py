"""A TCP proxy between two parties that does on command what networks do by themselves."""

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Final

from support.proxy import Proxy, closing

_CHUNK: Final = 65536
_LIMIT: Final = 1 << 20


class Line:
    """One connection through the proxy: the near side dialled in, the far side is upstream."""

    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        self.near = near
        self.far = far
        self.dead = False
        """Nothing passes any more, and nobody is told."""
        self.answers_none = False
        """The next answer resets it."""

    def abort(self) -> None:
        """Reset both sides."""
        reset(self.near)
        reset(self.far)


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection as if its other end were gone: a mere abort is an orderly end."""
    known = writer.get_extra_info("socket")
    if not writer.transport.is_closing():
        known.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class FaultProxy(Proxy):
    """Passes everything on until told otherwise; `delay` is in seconds, each way."""

    def __init__(self, upstream: int) -> None:
        super().__init__(upstream)
        self.lines: set[Line] = set()
        self.delay = 0.0
        self.replaced: tuple[bytes, bytes] | None = None
        """What is written instead of what in requests; of one length, for it is framed."""
        self._black = False
        self._healed = asyncio.Event()
        self._torn = False
        self._swallowed: bytes | None = None

    def cut(self) -> None:
        """Reset every connection."""
        for line in tuple(self.lines):
            line.abort()

    def black_hole(self, *, new_ones: bool = True) -> None:
        """Let nothing pass on what is open, and what will be; neither side hears of it."""
        self._black = new_ones
        self._healed.clear()
        for line in self.lines:
            line.dead = True

    def heal(self) -> None:
        """Let everything pass again; what was in a black hole is lost, and so its connections."""
        self._black, self.delay, self.refusing, self.replaced = False, 0.0, False, None
        self._healed.set()
        for line in tuple(self.lines):
            if line.dead:
                line.abort()

    def half_close(self) -> None:
        """Tell both sides that the other has nothing more to say, though it still listens."""
        for line in self.lines:
            for writer in (line.near, line.far):
                with suppress(OSError, RuntimeError):
                    writer.write_eof()

    def swallow_answer(self, marker: bytes) -> None:
        """Let the next request with the marker be done, then reset instead of answering.

        `lost` tells when.
        """
        self._swallowed = marker
        self.lost.clear()

    def tear(self) -> None:
        """End in the middle of the next message to the near side. `lost` tells when."""
        self._torn = True
        self.lost.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        above, below = await asyncio.open_connection("127.0.0.1", self._upstream, limit=_LIMIT)
        async with closing(below):
            line = Line(writer, below)
            line.dead = self._black
            self.lines.add(line)
            ways = [
                asyncio.create_task(self._requests(reader, line)),
                asyncio.create_task(self._answers(above, line)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                if line.dead:
                    # An end isn't told, either.
                    await self._healed.wait()
            finally:
                self.lines.discard(line)
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
                line.near.close()

    async def _requests(self, reader: asyncio.StreamReader, line: Line) -> None:
        while data := await reader.read(_CHUNK):
            await asyncio.sleep(self.delay)
            if line.dead:
                continue
            if self.replaced is not None:
                data = data.replace(*self.replaced)
            line.far.write(data)
            if self._swallowed is not None and self._swallowed in data:
                self._swallowed, line.answers_none = None, True

    async def _answers(self, above: asyncio.StreamReader, line: Line) -> None:
        while data := await above.read(_CHUNK):
            await asyncio.sleep(self.delay)
            if line.dead:
                continue
            if line.answers_none:
                line.abort()
                self.lost.set()
                return
            if self._torn and len(data) > 1:
                self._torn = False
                line.near.write(data[: len(data) // 2])
                self.lost.set()
                return
            line.near.write(data)

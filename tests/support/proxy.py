"""A TCP proxy that loses answers and delays requests, for what a network does to a store."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Self


class Proxy:
    """Passes connections on to a port of this machine until told to misbehave."""

    def __init__(self, upstream: int) -> None:
        self._upstream = upstream
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._marker: bytes | None = None
        self._arrives = asyncio.Event()
        self.lost = asyncio.Event()
        self.arrived = asyncio.Event()
        self.refusing = False
        self.silent = False
        """Whether nobody here learns that the server has closed a connection."""
        self.port = 0

    @property
    def url(self) -> str:
        """The URL to open a journal with."""
        return f"redis://127.0.0.1:{self.port}/0"

    def lose_answer(self, marker: bytes) -> None:
        """Let the next request with the marker be done, then cut instead of answering."""
        self.hold_request(marker)
        self.release()

    def hold_request(self, marker: bytes) -> None:
        """Cut at the next request with the marker; the server gets it at `release`."""
        self._marker = marker
        self._arrives.clear()
        self.lost.clear()
        self.arrived.clear()

    def release(self) -> None:
        """Let the request that is held reach the server; `arrived` tells that it was done."""
        self._arrives.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Python 3.11 reports a connection's task that was cancelled as a fault of its own.
        with suppress(OSError, asyncio.CancelledError):
            async with closing(writer):
                if not self.refusing:
                    await self._serve(reader, writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        above, below = await asyncio.open_connection("127.0.0.1", self._upstream)
        async with closing(below):
            answers = asyncio.create_task(self._answer(above, writer))
            try:
                fatal = await self._pass_on(reader, below)
            finally:
                answers.cancel()
                await asyncio.gather(answers, return_exceptions=True)
            if fatal:
                await self._mishandle(fatal, writer, above, below)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
        if not self.silent:
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, below: asyncio.StreamWriter) -> bytes:
        while data := await reader.read(65536):
            if self._marker is not None and self._marker in data:
                self._marker = None
                return data
            below.write(data)
        return b""

    async def _mishandle(
        self,
        request: bytes,
        writer: asyncio.StreamWriter,
        above: asyncio.StreamReader,
        below: asyncio.StreamWriter,
    ) -> None:
        if not self._arrives.is_set():
            writer.close()
            self.lost.set()
            await self._arrives.wait()
        below.write(request)
        await above.read(65536)
        self.arrived.set()
        self.lost.set()


@asynccontextmanager
async def closing(writer: asyncio.StreamWriter) -> AsyncGenerator[None, None]:
    """Close a stream's connection at the end of the block."""
    try:
        yield
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

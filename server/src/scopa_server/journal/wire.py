"""What goes over one connection: answers are parsed as they come, and handed over together."""

import asyncio
from typing import Any, Final, Protocol

MORE: Final = object()
"""What a parser gives while an answer isn't whole."""


class Parser(Protocol):
    """Makes answers of bytes; raises an exception for what are none."""

    def feed(self, data: bytes, /) -> None:
        """Take what has come."""
        ...

    def gets(self) -> Any:
        """Give the next answer, or `MORE`."""
        ...

    def has_data(self) -> bool:
        """Whether a part of an answer is there."""
        ...


class Wire(asyncio.Protocol):
    """A connection that is open both ways or not at all, taken over from another protocol.

    Streams stay half open instead: where nobody reads, as while a connection waits for its next
    use, its socket would be kept, even one that was reset since.
    """

    def __init__(self, transport: asyncio.Transport, parser: Parser) -> None:
        self._transport = transport
        self._parser = parser
        self._loop = asyncio.get_running_loop()
        self._former = transport.get_protocol()
        self._answers: list[Any] = []
        self._heard = 0
        """How often anything has come."""
        self._wanted = 0
        self._awaited: asyncio.Future[None] | None = None
        self._full = False
        self._drained: asyncio.Future[None] | None = None
        self.end: Exception | None = None
        """Why there will be no more answers."""
        transport.set_protocol(self)

    @property
    def is_clean(self) -> bool:
        """Whether it is open and nothing waits to be taken, not even its end."""
        over = self.end is not None or self._transport.is_closing()  # a reset has no end to be read
        return not (over or self._answers or self._parser.has_data())

    def write(self, words: bytes) -> None:
        """Send without waiting for the other side."""
        self._transport.write(words)

    async def drain(self, seconds: float) -> bool:
        """Wait until what was sent is on its way, as good as; whether it was so in time."""
        if self._full and self.end is None:
            self._drained = self._loop.create_future()
            await self._wait(self._drained, seconds)
        return not self._full

    async def take(self, count: int, seconds: float) -> list[Any]:
        """The next answers; fewer if nothing has come for so long, or there are no more.

        What is large, or is asked for together, may take as long as it takes.
        """
        heard = -1
        while len(self._answers) < count and self.end is None and heard != self._heard:
            heard = self._heard
            self._wanted, self._awaited = count, self._loop.create_future()
            await self._wait(self._awaited, seconds)
        taken = self._answers[:count]
        del self._answers[:count]
        return taken

    async def _wait(self, event: "asyncio.Future[None]", seconds: float) -> None:
        timer = self._loop.call_later(seconds, _happen, event)
        try:
            await event
        finally:
            timer.cancel()

    def abort(self) -> None:
        """Close without waiting for the other side."""
        self._transport.abort()

    # What the transport calls

    def data_received(self, data: bytes) -> None:
        """Parse what has come."""
        parser, answers = self._parser, self._answers
        self._heard += 1
        try:
            parser.feed(data)
            while (answer := parser.gets()) is not MORE:
                answers.append(answer)
        except Exception as error:
            self._is_over(error)
            self._transport.abort()
        if len(answers) >= self._wanted:
            _happen(self._awaited)

    def eof_received(self) -> bool:
        """The other side has nothing more to say; false: the transport is to close."""
        self._is_over(ConnectionError("closed by the store"))
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._is_over(exc or ConnectionError("closed"))
        self._former.connection_lost(exc)

    def pause_writing(self) -> None:
        """What was written waits, and is a lot."""
        self._full = True

    def resume_writing(self) -> None:
        """Most of what was written is on its way."""
        self._full = False
        _happen(self._drained)

    def _is_over(self, why: Exception) -> None:
        self.end = self.end or why
        _happen(self._awaited)
        _happen(self._drained)


def _happen(event: "asyncio.Future[None] | None") -> None:
    if event is not None and not event.done():
        event.set_result(None)

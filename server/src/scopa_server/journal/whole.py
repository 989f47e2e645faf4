"""Connections that are open both ways or not at all."""

import asyncio


class Whole(asyncio.Protocol):
    """Hands everything on to another protocol, and closes as soon as the other side does.

    Streams stay half open instead: where nobody reads, as while a connection waits for its next
    use, its socket would be kept, even one that was reset since.
    """

    def __init__(self, inner: asyncio.Protocol) -> None:
        self._inner = inner
        # The way of every byte: no call between.
        self.data_received = inner.data_received  # type: ignore[method-assign]

    def eof_received(self) -> bool:
        """The other side has nothing more to say; false: the transport is to close."""
        self._inner.eof_received()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        """What was written waits, and is a lot."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Most of what was written is on its way."""
        self._inner.resume_writing()


def keep_whole(transport: asyncio.Transport) -> None:
    """Let a transport that serves a stream close as soon as the other side does."""
    inner = transport.get_protocol()
    assert isinstance(inner, asyncio.Protocol)
    transport.set_protocol(Whole(inner))

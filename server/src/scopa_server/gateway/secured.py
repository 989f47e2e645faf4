"""TLS on a line that is known before it is spoken."""

import asyncio
import ssl
from typing import Any, cast

from .handover import Movable


class Secured(Movable):
    """A connection that speaks TLS first, if there is a `tls`, `patience` seconds at most.

    The loop's own way tells a protocol of a line when hands are shaken: who never does that would
    be counted by nobody. `met` is called as soon as the line is there, and says if it may stay;
    `parted` when it is gone: for whoever counts lines.
    """

    __slots__ = ("_begun", "_early", "_gone", "_patience", "_securing", "_tls")

    def __init__(
        self, *args: Any, tls: ssl.SSLContext | None, patience: float, **limits: Any
    ) -> None:
        super().__init__(*args, **limits)
        self._tls = tls
        self._patience = patience
        self._begun = False
        self._gone = False
        self._early: list[bytes] = []
        self._securing: asyncio.Task[None] | None = None

    def met(self) -> bool:
        """Take a line in, or end it; whether it stays."""
        return True

    def parted(self, fault: Exception | None) -> None:
        """Let a line go."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, or shake hands first."""
        self.transport = cast(asyncio.Transport, transport)
        if self._tls is None:
            self._begin(transport)
            self.met()
            return
        # What comes first is for whoever shakes hands.
        self.transport.pause_reading()
        if self.met():
            shaking = self._shake_hands(self.transport, self._tls)
            self._securing = self.loop.create_task(shaking, name="tls")

    def receive(self, data: bytes) -> None:
        """Take what has come; what came right behind the handshake waits until it is noticed."""
        if self._begun:
            super().receive(data)
        else:
            self._early.append(data)

    def eof_received(self) -> None:
        """Take the other side's end."""
        if self._begun:
            super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go."""
        self._gone = True
        self.parted(exc if self._begun else exc or ConnectionResetError())
        if self._begun:
            super().connection_lost(exc)

    def _begin(self, transport: asyncio.BaseTransport) -> None:
        self._begun = True
        super().connection_made(transport)

    async def _shake_hands(self, line: asyncio.Transport, tls: ssl.SSLContext) -> None:
        fault: Exception | None = ConnectionResetError()
        secure: asyncio.Transport | None = None
        try:
            async with asyncio.timeout(self._patience):
                secure = await self._shaken(line, tls)
        except TimeoutError:
            fault = None
        except (OSError, RuntimeError) as error:
            fault = error
        self._securing = None
        if secure is None or self._gone:
            line.abort()
            self.parted(fault)
            return
        self._begin(secure)
        for data in self._come():
            self.data_received(data)

    async def _shaken(
        self, line: asyncio.Transport, tls: ssl.SSLContext
    ) -> asyncio.Transport | None:
        if line.is_closing():
            return None
        # Its own time, which it doesn't count for a line that is lost meanwhile, never runs out.
        start = self.loop.start_tls(
            line, self, tls, server_side=True, ssl_handshake_timeout=2 * self._patience
        )
        shaking = self.loop.create_task(start)
        # Two turns of the loop later TLS listens, and has heard nothing else yet.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if not (shaking.done() or line.is_closing()):
            self._pass_on(cast(asyncio.BufferedProtocol, line.get_protocol()))
        return await shaking

    def _pass_on(self, tls: asyncio.BufferedProtocol) -> None:
        """Hand over what came before TLS listened: uvloop reads on though it is told to pause."""
        for data in self._come():
            memoryview(tls.get_buffer(len(data)))[: len(data)] = data
            tls.buffer_updated(len(data))

    def _come(self) -> list[bytes]:
        early, self._early = self._early, []
        return early

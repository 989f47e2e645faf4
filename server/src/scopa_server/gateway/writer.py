"""What waits in a connection's outbox, written as fast as its pipe takes it.

There is no task and no waiting: whoever fills the outbox writes it, as long as the pipe takes more.
When it doesn't, the rest stays in the outbox until the pipe is free again, or is cut.
"""

import asyncio
from collections.abc import Callable

import structlog

from scopa_protocol.codec import Codec
from scopa_protocol.codes import CloseCode
from scopa_protocol.frames import ServerFrame
from scopa_server.live.outbox import NOT_READING, Closing, Outbox
from scopa_server.live.showing import Update
from scopa_server.metrics import Limit, Metrics

from .pipe import Pipe

log = structlog.stdlib.get_logger()


class Writer:
    """Writes one connection's frames. `patience`: seconds it may take no more before it is cut."""

    def __init__(
        self, pipe: Pipe, codec: Codec, outbox: Outbox, patience: float, metrics: Metrics
    ) -> None:
        self._pipe = pipe
        self._push = pipe.push
        self._codec = codec
        self._text = not codec.binary
        self._outbox = outbox
        self._patience = patience
        self._metrics = metrics
        self._frames, self._bytes = metrics.frames_sent, metrics.bytes_sent
        self._sent: Callable[[ServerFrame | Update], None] = _nothing
        self._over = False
        self._waiting: asyncio.TimerHandle | None = None
        self._closing: asyncio.Task[None] | None = None

    def start(self, sent: Callable[[ServerFrame | Update], None]) -> None:
        """Write what waits, and from now on whatever comes; `sent` hears of each frame."""
        self._sent = sent
        self._pipe.stuck, self._pipe.freed = self._wait, self._go_on
        self._outbox.filled, self._outbox.write = self._write, self._put
        if self._pipe.paused:
            self._wait()
        self._write()

    async def stop(self) -> None:
        """Write no more."""
        self._over = True
        self._pipe.stuck = self._pipe.freed = None
        self._outbox.unheeded()
        self._sent = _nothing
        self._call_off()
        if self._closing is not None:
            self._closing.cancel()
            await asyncio.gather(self._closing, return_exceptions=True)

    def _write(self) -> None:
        while not (self._over or self._pipe.paused):
            item = self._outbox.take()
            if item is None:
                return
            if isinstance(item, Closing):
                if item.bye.code == NOT_READING:
                    self._metrics.limited(Limit.UNREAD)
                self._put(item.bye)
                self._close(item.code, item.bye.code)
            else:
                self._put(item)
            if self._outbox.waits:
                # Whether the pipe takes more it knows when it has written what it took.
                self._pipe.flush()

    def _put(self, frame: ServerFrame | Update) -> bool:
        """Write a frame before which nothing waits; whether it was taken."""
        if self._over or self._pipe.paused:
            return False
        push, codec = self._push, self._codec
        try:
            if type(frame) is Update:
                (begin, end), answers = frame.encoded(codec), frame.re is not None
            else:
                begin, end, answers = codec.encode(frame), b"", True
            size = push(begin, self._text, end)
            if size is None:
                # What still comes stays where it is, until there is too much of it.
                self._over = True
            else:
                self._frames.count += 1
                self._bytes.count += size
            if answers:
                self._sent(frame)
        except Exception:
            self._fail()
        return True

    def _fail(self) -> None:
        """End it: whoever filled the outbox isn't at fault; silent, it would stay open."""
        log.exception("writer_fault", connection=self._name)
        self._over = True
        self._close(CloseCode.INTERNAL, "internal_error")

    def _close(self, code: CloseCode, reason: str) -> None:
        if self._closing is None:
            closing = self._pipe.close(code, reason)
            self._closing = asyncio.create_task(closing, name="closing")

    def _wait(self) -> None:
        if self._waiting is None:
            loop = asyncio.get_running_loop()
            self._waiting = loop.call_later(self._patience, self._cut)

    def _go_on(self) -> None:
        self._call_off()
        self._write()

    def _cut(self) -> None:
        log.info("not_reading", connection=self._name)
        self._metrics.limited(Limit.UNREAD)
        self._pipe.transport.abort()

    def _call_off(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    @property
    def _name(self) -> str:
        return str(self._pipe.id)[:8]


def _nothing(*_: object) -> None:
    """Nobody cares."""

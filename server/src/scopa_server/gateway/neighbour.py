"""The line between two workers of one machine, over which connections are handed over.

Three messages make one handover, so that a command is followed by one of the two and never by both:

1. `Offer`, with the connection's open file. The other keeps a place for it, touches nothing, and
   answers `Taken`, or `Refused`.
2. `Go`: the one who offered has let go, and the other serves it. Or `Stay`: it doesn't, since the
   answer took too long or the connection has changed meanwhile, and the other drops what it got.

The line keeps order and loses nothing: after `Go` the other alone has the connection, before it the
one who offered. If either dies its files are closed with it, and a client whose connection nobody
has any more sees its end.
"""

import asyncio
import os
import socket
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Final, TypeAlias

import structlog
from msgspec import MsgspecError, Struct, msgpack

from scopa_server.metrics import Handed

from .handover import Handover

MESSAGE: Final = 64 * 1024
"""Bytes of a message at most."""
AT_ONCE: Final = 32
"""Messages that are read before anybody else has a turn."""

log = structlog.stdlib.get_logger()


class Ready(Struct, tag=0):
    """From now on offers are answered."""


class Offer(Struct, tag=1):
    """A connection, its file beside it."""

    number: int
    handover: Handover


class Taken(Struct, tag=2):
    """There is a place for what was offered."""

    number: int


class Refused(Struct, tag=3):
    """There is none, and why."""

    number: int
    why: str


class Go(Struct, tag=4):
    """It is yours."""

    number: int


class Stay(Struct, tag=5):
    """It is not, after all."""

    number: int


Message: TypeAlias = Ready | Offer | Taken | Refused | Go | Stay
Heard: TypeAlias = Callable[["Neighbour", Message, socket.socket | None], None]

_encode: Final = msgpack.Encoder().encode
_decode: Final = msgpack.Decoder(Message).decode


class Neighbour:
    """Another worker, as long as it lives. `end`: of a pair of SOCK_SEQPACKET, ours from then on.

    `heard` is called with each message, and the line that came with it, if one did; `gone` once,
    when there is nobody at the other end any more.
    """

    def __init__(
        self, number: int, end: socket.socket, heard: Heard, gone: Callable[["Neighbour"], None]
    ) -> None:
        self.number = number
        self.ready = False
        """It answers offers."""
        self.offered: dict[int, asyncio.Future[Handed | None]] = {}
        """What it was offered and hasn't answered: by number, why it doesn't take it, or None."""
        self.late: set[int] = set()
        """What it wasn't waited for any more: until it has answered that, it is asked nothing."""
        self.held: dict[int, tuple[socket.socket, Handover]] = {}
        """What it has offered and neither given nor kept yet."""
        self._numbers = count(1)
        self._end = end
        self._heard = heard
        self._gone = gone
        self._waiting: deque[bytes] = deque()
        self._loop = asyncio.get_running_loop()
        end.setblocking(False)
        self._loop.add_reader(end.fileno(), self._read)

    @property
    def is_open(self) -> bool:
        """Whether there is somebody at the other end, as far as is known."""
        return self._end.fileno() >= 0

    @property
    def is_full(self) -> bool:
        """Whether there is more to say than the line has room for."""
        return bool(self._waiting)

    def offer(self, fd: int, handover: Handover) -> int | None:
        """Offer a connection; the number to name it by, None if that can't be done now."""
        number = next(self._numbers)
        if not self._sent(_encode(Offer(number, handover)), (fd,)):
            return None
        self.offered[number] = self._loop.create_future()
        return number

    def go(self, number: int) -> bool:
        """Give what was offered; false if that can't be done now, and nothing was given."""
        return self._sent(_encode(Go(number)))

    def tell(self, message: Message) -> None:
        """Say something now, or as soon as more can be said."""
        data = _encode(message)
        if self.is_open and not self._sent(data):
            if not self._waiting:
                self._loop.add_writer(self._end.fileno(), self._flush)
            self._waiting.append(data)

    def close(self) -> None:
        """End it; who waits for an answer hears that there is none."""
        if not self.is_open:
            return
        self._loop.remove_reader(self._end.fileno())
        if self._waiting:
            self._loop.remove_writer(self._end.fileno())
            self._waiting.clear()
        self._end.close()
        self._gone(self)

    def _sent(self, data: bytes, files: tuple[int, ...] = ()) -> bool:
        if self._waiting or not self.is_open or len(data) > MESSAGE:
            return False
        try:
            socket.send_fds(self._end, [data], files)
        except OSError:
            return False
        return True

    def _flush(self) -> None:
        try:
            while self._waiting:
                self._end.send(self._waiting[0])
                self._waiting.popleft()
        except BlockingIOError:
            return
        except OSError:
            self.close()
            return
        self._loop.remove_writer(self._end.fileno())

    def _read(self) -> None:
        try:
            for _ in range(AT_ONCE):
                data, files, _, _ = socket.recv_fds(self._end, MESSAGE, 1)
                line = _line(files)
                if not data:
                    self.close()
                    return
                self._take(data, line)
                if not self.is_open:
                    return
        except BlockingIOError:
            return
        except OSError as fault:
            log.debug("neighbour_lost", neighbour=self.number, reason=fault.strerror)
            self.close()

    def _take(self, data: bytes, line: socket.socket | None) -> None:
        try:
            message = _decode(data)
        except MsgspecError:
            log.exception("neighbour_fault", neighbour=self.number)
            if line is not None:
                line.close()
            self.close()
        else:
            self._heard(self, message, line)


def _line(files: list[int]) -> socket.socket | None:
    """The line that came with a message. Raises OSError if it is none."""
    if not files:
        return None
    try:
        line = socket.socket(fileno=files[0])
    except OSError:
        os.close(files[0])
        raise
    line.set_inheritable(False)
    return line

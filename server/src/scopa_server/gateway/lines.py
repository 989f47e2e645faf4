"""Every line to the server, counted from before its handshake until it is gone.

A stranger who opens lines and says nothing would otherwise take the files of everybody, and
hold up the server's end.
"""

import socket
import ssl
from collections import Counter
from typing import Any, Final

from websockets.asyncio.server import Server, ServerConnection
from websockets.exceptions import NegotiationError
from websockets.frames import Frame, Opcode
from websockets.protocol import CLOSED, CONNECTING, OPEN, Event
from websockets.server import ServerProtocol

from scopa_protocol.codes import CloseCode
from scopa_server.allowance import Allowance
from scopa_server.bounds import Bounds
from scopa_server.metrics import Limit, Metrics, Refusal

from .addresses import Addresses, direct
from .handover import Movable
from .posting import Posting
from .requests import OneRequest
from .secured import Secured

SPARE: Final = 100
"""Lines beyond the connections allowed, for handshakes and for telling who is turned away."""
SPARE_EACH: Final = 10
SEND_BUFFER: Final = 64 * 1024
"""Bytes the system may keep for a line: what it keeps is old news to a client that reads slowly."""
FRAGMENTS: Final = 64
"""Pieces that one message may come in: an empty piece costs memory, but no bytes that count."""
UNFOLLOWED: Final = 400
"""Messages that may wait to be followed, and so many seconds' more: twice what ends a line that
brings them one by one."""
UNFOLLOWED_SECONDS: Final = 4
_DATA: Final = frozenset({Opcode.TEXT, Opcode.BINARY})


class Lines:
    """The lines that are open. `connection` goes to websockets as its factory."""

    def __init__(
        self,
        bounds: Bounds,
        addresses: Addresses,
        metrics: Metrics,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._bounds = bounds
        self._tls = tls
        self._addresses = addresses
        self._metrics = metrics
        self._posting = Posting()
        self._open: dict[ServerConnection, str] = {}
        self._each: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def connection(self, protocol: ServerProtocol, server: Server, **limits: Any) -> Movable:
        """A connection that is counted; `came`: which one of another process it goes on with."""
        limits |= {"patience": self._bounds.handshake_time, "posting": self._posting}
        return _Line(self, protocol, server, tls=self._tls, **limits)

    def allowance(self) -> Allowance:
        """How fast pings, pongs and pieces of messages may come on one line."""
        rate = self._bounds.max_frames_per_second
        return Allowance(2 * rate, 1 / rate)

    def cut(self) -> None:
        """End every line at once."""
        for line in tuple(self._open):
            line.transport.abort()

    def take(self, line: Movable) -> bool:
        """Count a line, or end it if there are too many; whether it stays."""
        address = direct(line)
        # For what another process hands over there is a place among the connections.
        full = None if line.came is not None else self._full(line, address)
        if full is not None:
            self._metrics.refused(full)
            line.transport.abort()
            return False
        held = line.transport.get_extra_info("socket")
        held.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self._open[line] = address
        self._each[address] += 1
        return True

    def _full(self, line: ServerConnection, address: str) -> Refusal | None:
        bounds = self._bounds
        if len(self._open) >= bounds.max_connections + SPARE:
            return Refusal.FULL
        # Whom a proxy speaks for is known once it has said so; so is that there is one.
        local = self._addresses.may_be_local(line)
        counts = bounds.holds("max_connections_per_address", local=local)
        if not counts or self._addresses.is_proxy(line):
            return None
        most = bounds.max_connections_per_address + SPARE_EACH
        return Refusal.ADDRESS_FULL if self._each[address] >= most else None

    def lose(self, line: ServerConnection, fault: Exception | None) -> None:
        """A line has ended."""
        address = self._open.pop(line, None)
        if address is None:
            return
        self._each[address] -= 1
        if not self._each[address]:
            del self._each[address]
        why = _unfinished(line, fault)
        if why is not None:
            self._metrics.refused(why)

    @property
    def unfollowed(self) -> int:
        """How many messages of one line may wait to be followed: far more than anybody sends."""
        return UNFOLLOWED + UNFOLLOWED_SECONDS * self._bounds.max_frames_per_second

    def flooded(self, line: ServerConnection, limit: Limit) -> None:
        """A line brings more than it may."""
        self._metrics.limited(limit)
        line.protocol.fail(CloseCode.POLICY, "policy")
        line.send_data()


def _unfinished(line: ServerConnection, fault: Exception | None) -> Refusal | None:
    """Why a line never became a connection, where nobody has counted it."""
    if isinstance(line, OneRequest) and line.spoilt:
        return Refusal.MALFORMED
    why = line.protocol.handshake_exc
    if why is None:
        # Cut by the library when its time was over; who hangs up leaves a fault, or an end.
        return Refusal.SLOW if line.request is None and fault is None else None
    hung_up = isinstance(why.__cause__, EOFError)
    return None if hung_up or isinstance(why, NegotiationError) else Refusal.MALFORMED


class _Line(Secured):
    __slots__ = ("_early_frames", "_lines", "_pace", "_pieces")

    def __init__(
        self, lines: Lines, protocol: ServerProtocol, server: Server, **limits: Any
    ) -> None:
        super().__init__(protocol, server, **limits)
        self._lines = lines
        self._pace: Allowance | None = None
        self._pieces = 0
        self._early_frames = False
        if self.came is not None and self.came.control_pace:
            self._pace = lines.allowance()
            self._pace.use(self.came.control_pace, self.loop.time())

    @property
    def control_pace(self) -> float:
        return 0.0 if self._pace is None else self._pace.used(self.loop.time())

    def met(self) -> bool:
        return self._lines.take(self)

    def parted(self, fault: Exception | None) -> None:
        self._lines.lose(self, fault)

    def process_event(self, event: Event) -> None:
        super().process_event(event)
        self._early_frames = isinstance(event, Frame) and self.protocol.state is CONNECTING
        # What is whole is counted where it is read; the rest never gets there.
        if isinstance(event, Frame) and not (event.fin and event.opcode in _DATA):
            self._count(event)

    def _count(self, frame: Frame) -> None:
        if self._pace is None:
            self._pace = self._lines.allowance()
        if frame.opcode in _DATA or frame.opcode is Opcode.CONT:
            self._pieces = 0 if frame.fin else self._pieces + 1
        too_many = self._pieces >= FRAGMENTS or self._pace.take(self.loop.time()) > 0
        if too_many and self.protocol.state is OPEN:
            self._lines.flooded(self, Limit.CONTROL_FRAMES)

    def parsed(self) -> None:
        if self.protocol.state is CONNECTING and self._early_frames:
            # Nobody has anything to say before hands are shaken.
            self.spoilt = True
            self.protocol.state = CLOSED
            self.transport.abort()
            return
        waiting = len(self.recv_messages.frames)
        if waiting > self._lines.unfollowed and self.protocol.state is OPEN:
            self._lines.flooded(self, Limit.FRAMES)

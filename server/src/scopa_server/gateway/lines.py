"""Every line to the server, counted from before its handshake until it is gone.

A stranger who opens lines and says nothing would otherwise take the files of everybody, and
hold up the server's end.
"""

import asyncio
import socket
from collections import Counter
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

from websockets.asyncio.server import Server, ServerConnection
from websockets.server import ServerProtocol

SPARE: Final = 100
"""Lines beyond the connections allowed, for handshakes and for telling who is turned away."""
SPARE_EACH: Final = 10
SEND_BUFFER: Final = 64 * 1024
"""Bytes the system may keep for a line: what it keeps is old news to a client that reads slowly."""


class Lines:
    """The lines that are open. `connection` goes to websockets as its factory."""

    def __init__(self, most: int, most_each: int) -> None:
        self._most = most + SPARE
        self._most_each = most_each + SPARE_EACH
        self._open: dict[ServerConnection, str] = {}
        self._each: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def connection(
        self, protocol: ServerProtocol, server: Server, **limits: Any
    ) -> ServerConnection:
        """A connection that is counted."""
        return _Line(self, protocol, server, **limits)

    def cut(self) -> None:
        """End every line at once."""
        for line in tuple(self._open):
            line.transport.abort()

    def take(self, line: ServerConnection) -> None:
        """Count a line, or end it if there are too many."""
        address = address_of(line)
        if len(self._open) >= self._most or self._each[address] >= self._most_each:
            line.transport.abort()
            return
        held = line.transport.get_extra_info("socket")
        held.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self._open[line] = address
        self._each[address] += 1

    def lose(self, line: ServerConnection) -> None:
        """A line has ended."""
        address = self._open.pop(line, None)
        if address is None:
            return
        self._each[address] -= 1
        if not self._each[address]:
            del self._each[address]


class _Line(ServerConnection):
    def __init__(
        self, lines: Lines, protocol: ServerProtocol, server: Server, **limits: Any
    ) -> None:
        super().__init__(protocol, server, **limits)
        self._lines = lines

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._lines.take(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lines.lose(self)
        super().connection_lost(exc)


def address_of(line: ServerConnection) -> str:
    """Who is at the other end, as limits count: an IPv6 network of 64 bits is one customer."""
    remote = line.remote_address
    if not remote:
        return "unknown"
    try:
        address = ip_address(str(remote[0]).partition("%")[0])
    except ValueError:
        return str(remote[0])
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return f"{IPv6Address(int(address) >> 64 << 64)}/64"

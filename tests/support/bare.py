"""A WebSocket client made of bytes, for what no library would send, or would not read."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

PATIENCE: Final = 60
HANDSHAKE: Final = (
    "GET /ws?from=test HTTP/1.1",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)
CONTINUATION, TEXT, BINARY, CLOSE, PING = 0x0, 0x1, 0x2, 0x8, 0x9


def frame(opcode: int, data: bytes = b"", *, fin: bool = True, compressed: bool = False) -> bytes:
    """A client's frame, masked with zeros."""
    first = (0x80 if fin else 0) | (0x40 if compressed else 0) | opcode
    if len(data) < 126:
        size = bytes([0x80 | len(data)])
    else:
        size = bytes([0x80 | 126]) + len(data).to_bytes(2, "big")
    return bytes([first]) + size + bytes(4) + data


class Bare:
    """One connection of bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def status(self) -> int:
        """The status that answers a request; 0 if it isn't answered."""
        async with asyncio.timeout(PATIENCE):
            line = await self.reader.readline()
        return int(line.split()[1]) if line else 0

    async def end(self) -> bytes:
        """What still comes until the other side closes, or cuts the line."""
        got = b""
        async with asyncio.timeout(PATIENCE):
            try:
                while data := await self.reader.read(65536):
                    got += data
            except ConnectionError:
                return got
        return got

    async def close_code(self) -> int:
        """The code of the close frame that ends the connection."""
        _, _, close = (await self.end()).rpartition(b"\x88")
        return int.from_bytes(close[1:3], "big")


@asynccontextmanager
async def bare(port: int, *headers: str, opened: bool = True) -> AsyncGenerator[Bare]:
    """Connect; `opened`: and say the handshake, with more headers."""
    held = socket.socket()
    held.setblocking(False)
    # Little is taken from a server that nobody reads from.
    held.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    await asyncio.get_running_loop().sock_connect(held, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=held)
    try:
        line = Bare(reader, writer)
        if opened:
            writer.write("\r\n".join([*HANDSHAKE, "Host: x", *headers, "", ""]).encode())
            async with asyncio.timeout(PATIENCE):
                answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 101"), answer
        yield line
    finally:
        writer.transport.abort()

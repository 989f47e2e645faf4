"""Slow and hostile clients, one after another. What becomes of them is counted, never a fault."""

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from websockets.exceptions import WebSocketException

from support.hostile_frames import BROKEN, JSON

from .line import Line, dial
from .tables import Tally

Nuisance: TypeAlias = Callable[["Place"], Awaitable[None]]
GIVES_UP: Final = 90.0
"""Seconds after which a nuisance goes, whatever the server does."""


class Place:
    """Where a nuisance comes from, and what it knows of the server."""

    def __init__(self, port: int, number: int, tally: Tally) -> None:
        self.port = port
        # Addresses of this machine's own, none of which honest people use.
        self.address = f"127.0.1.{number + 1}"
        self.chance = random.Random(-number)
        self.tally = tally
        self._lines: list[Line] = []

    async def line(self) -> Line:
        """A connection, greeted."""
        line = await Line.open(self.port, self.address)
        self._lines.append(line)
        return line

    async def raw(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection without a handshake."""
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.address, 0))

    def go(self) -> None:
        """Leave nothing behind."""
        for line in self._lines:
            line.drop()
        self._lines.clear()

    def room(self) -> str:
        """Some room that is played in, if there is one."""
        rooms = sorted(self.tally.open_rooms)
        return self.chance.choice(rooms) if rooms else "KRTNWXYZ"


async def never_reads(place: Place) -> None:
    """Watch a table, and read nothing of it."""
    line = await place.line()
    await line.ask("watch", room=place.room(), name=f"Zoe {place.chance.randrange(99)}")
    line.socket.transport.pause_reading()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(60):
            await line.socket.wait_closed()


async def reads_slowly(place: Place) -> None:
    """Watch a table, a frame every few seconds."""
    line = await place.line()
    await line.ask("watch", room=place.room(), name=f"Pia {place.chance.randrange(99)}")
    for _ in range(12):
        line.socket.transport.pause_reading()
        await asyncio.sleep(4)
        line.socket.transport.resume_reading()
        await line.frame()


async def sends_garbage(place: Place) -> None:
    """Send what is no command, until shown out."""
    line = await place.line()
    frames = [*JSON.values(), *BROKEN.values(), b"x" * 20_000]
    while True:
        await line.socket.send(place.chance.choice(frames), text=True)
        await line.frame()


async def floods(place: Place) -> None:
    """Send commands without waiting for answers, until shown out."""
    line = await place.line()
    frame = b'{"type":"look","id":1,"room":"KRTNWXYZ"}'
    for _ in range(2000):
        await line.socket.send(frame, text=True)
    while True:
        await line.frame()


async def guesses(place: Place) -> None:
    """Try codes, tokens and passcodes."""
    line = await place.line()
    for _ in range(30):
        code = "".join(place.chance.choices("23456789ABCDEFGHJKMNPQRSTVWXYZ", k=8))
        await line.ask("look", room=code)
        await line.ask("resume", room=place.room(), token="g" * 32)
        await line.ask("join", room=place.room(), name="Eva", passcode="geheim", seat=0)
        await asyncio.sleep(0.1)


async def hangs_up(place: Place) -> None:
    """Connect and be gone, in every state of a handshake."""
    for _ in range(20):
        line = await place.line()
        line.drop()
        _, writer = await place.raw()
        writer.write(b"GET /ws HTTP/1.1\r\nHost: x\r\n"[: place.chance.randrange(28)])
        writer.transport.abort()
        await asyncio.sleep(0.2)


async def drips(place: Place) -> None:
    """A request that never ends, a byte at a time."""
    reader, writer = await place.raw()
    try:
        for byte in b"GET /ws HTTP/1.1\r\nX-Padding: " + b"a" * 200:
            writer.write(bytes([byte]))
            await writer.drain()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    if not await reader.read(100):
                        return
    finally:
        writer.transport.abort()


async def asks_wrongly(place: Place) -> None:
    """Requests with bodies, huge headers, other methods and paths; subprotocols of others."""
    for request in (
        b"POST /ws HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n" + b"b" * 9000,
        b"GET /ws HTTP/1.1\r\nHost: x\r\nX: " + b"h" * 100_000 + b"\r\n\r\n",
        b"GET /ws HTTP/1.1\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,
        b"\x00" * 5000,
    ):
        reader, writer = await place.raw()
        writer.write(request)
        try:
            async with asyncio.timeout(15):
                await reader.read()
        except (OSError, TimeoutError):
            continue
        finally:
            writer.transport.abort()
    with contextlib.suppress(WebSocketException):
        line = await dial(place.port, place.address, additional_headers={"Origin": "http://x"})
        line.transport.abort()


async def idles(place: Place) -> None:
    """Connect, and want nothing."""
    line = await place.line()
    with contextlib.suppress(TimeoutError):
        await line.frame(45)
    line.drop()


NUISANCES: Final[tuple[Nuisance, ...]] = (
    never_reads, reads_slowly, sends_garbage, floods, guesses, hangs_up, drips, asks_wrongly, idles,
)  # fmt: skip


async def pester(port: int, number: int, ends: float, tally: Tally) -> None:
    """Be one nuisance after another, until the end."""
    place = Place(port, number, tally)
    kinds = [*NUISANCES]
    place.chance.shuffle(kinds)
    while time.monotonic() + 5 < ends:
        for kind in kinds:
            if time.monotonic() + 5 >= ends:
                return
            tally.counts[kind.__name__] += 1
            with contextlib.suppress(WebSocketException, OSError, TimeoutError, EOFError):
                async with asyncio.timeout(min(GIVES_UP, ends - time.monotonic())):
                    await kind(place)
            place.go()
            await asyncio.sleep(place.chance.uniform(0.5, 3))

"""What people who only sit there cost: memory a connection and a room, and coming in."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .contenders import close_all, game, open_all, scopa_server
from .line import PATIENCE, Line
from .machine import Cores
from .results import Figure
from .table import SEATS, Game
from .usage import cpu_seconds, memory_bytes

AT_ONCE: Final = 64
"""Connections that are being opened at the same time."""
FIRST: Final = 50
"""Connections and tables at most that come before, so that what is needed once isn't counted."""


async def measure(folder: Path, cores: Cores, connections: int, rooms: int) -> list[Figure]:
    """Open so many connections, then so many rooms on a fresh server."""
    found, each = await _idle(folder / "idle", cores, connections)
    return [*found, await _rooms(folder / "rooms", cores, rooms, each)]


async def _idle(folder: Path, cores: Cores, number: int) -> tuple[list[Figure], float]:
    server, url = scopa_server(folder, cores.server, f"sqlite:{folder}/scopa.db")
    try:
        first = await _connected(url, min(FIRST, number))
        before, spent, start = memory_bytes(server.pids), cpu_seconds(server.pids), time.time()
        lines = await _connected(url, number)
        took = time.time() - start
        each = (memory_bytes(server.pids) - before) / number
        cost = (cpu_seconds(server.pids) - spent) / number
        await _let_go([*first, *lines])
    finally:
        await asyncio.to_thread(server.stop)
    return [
        Figure(name="idle connection", value=round(each / 1024, 1), unit="KiB"),
        Figure(name="connections accepted", value=round(number / took), unit="/s"),
        Figure(name="cost of a connection", value=round(cost * 1e6), unit="us"),
    ], each


async def _connected(url: str, number: int) -> list[Line]:
    """So many connections, each greeted by the server."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one() -> Line:
        greeted = asyncio.Event()
        async with gate:
            line = Line(lambda _: greeted.set(), _ignore)
            await line.connect(f"{url}/ws", "scopa.v1.json")
            async with asyncio.timeout(PATIENCE):
                await greeted.wait()
        return line

    return list(await asyncio.gather(*(one() for _ in range(number))))


def _ignore(_: BaseException) -> None:
    """Greetings are missed by those who wait for them."""


async def _let_go(lines: Sequence[Line]) -> None:
    await asyncio.gather(*(line.close() for line in lines))


async def _rooms(folder: Path, cores: Cores, number: int, connection: float) -> Figure:
    server, url = scopa_server(folder, cores.server, f"sqlite:{folder}/scopa.db")
    try:
        first = await _played(url, min(FIRST, number))
        before = memory_bytes(server.pids)
        tables = await _played(url, number)
        each = (memory_bytes(server.pids) - before) / number - SEATS * connection
        await close_all([*first, *tables])
    finally:
        await asyncio.to_thread(server.stop)
    return Figure(
        name="live room of four",
        value=round(each / 1024, 1),
        unit="KiB",
        note="without its connections, which are counted as idle ones",
    )


async def _played(url: str, number: int) -> list[Game]:
    """So many tables in the middle of a match."""
    tables = list(map(game("json"), range(number)))
    await open_all(tables, url)
    return tables

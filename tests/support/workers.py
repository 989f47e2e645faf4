"""Several workers behind one port, as tests reach and count them."""

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from websockets.exceptions import WebSocketException

from .player import Player
from .server_process import READY_WITHIN, ServerProcess

TWO: Final = ("--workers", "2")


def by_tcp(server: ServerProcess) -> Player:
    """Somebody who connects as people do."""
    return Player(server.url)


def pids(server: ServerProcess) -> dict[int, int]:
    """The newest process of each of two workers, once they are in the log."""
    end = time.monotonic() + READY_WITHIN
    while True:
        found = {e["worker"]: e["pid"] for e in server.entries if e["event"] == "worker_serves"}
        if set(found) == {1, 2}:
            return found
        assert time.monotonic() < end, server.log
        time.sleep(0.005)


def counted(server: ServerProcess, name: str, label: str = "") -> dict[int, float]:
    """A metric by worker; `label`: the one that it has besides, as in `code="1000"`."""
    status, page = server.page("/metrics")
    assert status == 200
    labels = f"{label}," if label else ""
    found = re.findall(rf'^{name}{{{labels}worker="(\d+)"}} (\S+)$', page, re.MULTILINE)
    return {int(worker): float(value) for worker, value in found}


async def spread(
    server: ServerProcess, each: int, by: Callable[[ServerProcess], Player] = by_tcp
) -> dict[int, list[Player]]:
    """So many connections to each worker; the system chooses, so some are let go again."""
    there: dict[int, list[Player]] = defaultdict(list)
    before = counted(server, "scopa_connections_total")
    for _ in range(100):
        player = by(server)
        await player.__aenter__()
        now = counted(server, "scopa_connections_total")
        (worker,) = [number for number in now if now[number] > before[number]]
        before = now
        if len(there[worker]) < each:
            there[worker].append(player)
        else:
            await player.socket.close()
        if [len(players) for players in there.values()] == [each, each]:
            return there
    raise AssertionError("a hundred connections, all to one worker")


async def connected(
    server: ServerProcess, by: Callable[[ServerProcess], Player] = by_tcp
) -> Player:
    """A connection; the system may first choose a worker that is about to be dead."""
    async with asyncio.timeout(READY_WITHIN):
        while True:
            try:
                return await by(server).__aenter__()
            except (OSError, WebSocketException):
                await asyncio.sleep(0.05)


async def becomes(server: ServerProcess, name: str, values: dict[int, float]) -> None:
    """Wait until a metric says so."""
    async with asyncio.timeout(READY_WITHIN):
        while counted(server, name) != values:  # noqa: ASYNC110
            await asyncio.sleep(0.05)

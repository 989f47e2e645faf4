"""Servers of several workers, looked at from outside."""

import re
from collections import defaultdict

from support.player import Player
from support.server_process import ServerProcess

TWO = ("--workers", "2")


def pids(server: ServerProcess) -> dict[int, int]:
    """The newest process of each worker."""
    return {e["worker"]: e["pid"] for e in server.entries if e["event"] == "worker_serves"}


def counted(server: ServerProcess, name: str) -> dict[int, float]:
    """A metric without other labels, by worker."""
    status, page = server.page("/metrics")
    assert status == 200
    found = re.findall(rf'^{name}{{worker="(\d+)"}} (\S+)$', page, re.MULTILINE)
    return {int(worker): float(value) for worker, value in found}


async def spread(server: ServerProcess, each: int) -> dict[int, list[Player]]:
    """So many connections to each worker; the system chooses, so some are let go again."""
    there: dict[int, list[Player]] = defaultdict(list)
    before = counted(server, "scopa_connections_total")
    for _ in range(100):
        player = Player(server.url)
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

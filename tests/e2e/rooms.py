"""`make rooms-test`: ten thousand rooms opened at a real server and left; what is left of them.

Every second one has a match with a bot begun. Twice on each store; the second time must cost
nothing that the first did not. Bounded: `--rooms` sets how many, and it takes some minutes.
"""

import argparse
import asyncio
import contextlib
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from scopa_protocol import commands as c
from support.player import Player
from support.redis_server import RedisServer, programs
from support.server_process import ServerProcess

LIFETIME = 30
"""Seconds that an untouched room stays in the store here."""
AT_ONCE = 100
PATIENCE = 180
MAY_GROW = 0.1
"""Part by which memory may differ from one round to the next: allocators keep some."""
MAY_KEEP_KIB = 256
"""What a store may keep of all of it, as half-filled pages."""


class Reading(NamedTuple):
    """What a server and its store hold; -1: it can't be told."""

    rss_mib: float
    rooms: int
    connections: int
    tasks: int
    threads: int
    files: int
    held: int
    channels: int
    store_kib: int

    def __str__(self) -> str:
        """A line of a table."""
        return (
            f"{self.rss_mib:8.1f} {self.rooms:6} {self.connections:6} {self.tasks:6} "
            f"{self.threads:8} {self.files:6} {self.held:8} {self.channels:9} {self.store_kib:10}"
        )


HEAD = "            RSS MiB  rooms  conns  tasks  threads  files  in store  channels  store KiB"


class Store(NamedTuple):
    """How to name a store, and what is in it: entries, channels, KiB."""

    url: str
    look: Callable[[], tuple[int, int, int]]


def say(line: str) -> None:
    """Tell who watches."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def sqlite_store(folder: Path) -> Store:
    """A SQLite file: rows of all tables, no channels, and the size of what is in it."""
    path = folder / "rooms.db"

    def look() -> tuple[int, int, int]:
        with contextlib.closing(sqlite3.connect(path)) as db:
            tables = ("rooms", "commits", "snapshots", "tail")
            rows = sum(db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables)  # noqa: S608
            # Free pages are used again before the file grows.
            pages = db.execute("PRAGMA page_count").fetchone()[0]
            pages -= db.execute("PRAGMA freelist_count").fetchone()[0]
            size = db.execute("PRAGMA page_size").fetchone()[0]
        return rows, 0, pages * size // 1024

    return Store(f"sqlite:{path}", look)


def redis_store(server: RedisServer) -> Store:
    """A Redis: its keys, its shard channels, and its data's memory."""

    def look() -> tuple[int, int, int]:
        memory = server.ask("INFO", "memory").decode()
        used = memory.partition("used_memory_dataset:")[2].partition("\r\n")[0]
        return server.keys, server.channels, int(used) // 1024

    return Store(server.url, look)


def reading(server: ServerProcess, store: Store) -> Reading:
    """What is held now."""
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{server.pid}/status").read_text().splitlines()
    )
    # The line that the page is asked on may end a little later.
    files = len(list(Path(f"/proc/{server.pid}/fd").iterdir()))
    page = server.page("/metrics")[1]

    def metric(name: str) -> int:
        found = [line for line in page.splitlines() if line.startswith(f"{name} ")]
        return int(float(found[0].split()[1])) if found else -1

    return Reading(
        int(status["VmRSS"].split()[0]) / 1024,
        metric("scopa_rooms_live"),
        metric("scopa_connections_open"),
        metric("scopa_tasks"),
        int(status["Threads"]),
        files,
        *store.look(),
    )


async def visit(server: ServerProcess, number: int) -> None:
    """Somebody opens a room, perhaps begins a match, and goes."""
    player = Player(server.url)
    async with player:
        await player.host("Anna", variant="scopa", players=2)
        if number % 2:
            await player.do(c.SeatBot(seat=1))
            await player.do(c.Start())


async def visits(server: ServerProcess, store: Store, rooms: int) -> Reading:
    """Many of them, some at once; what is held when the last has just gone."""
    numbers = iter(range(rooms))

    async def one_after_the_other() -> None:
        for number in numbers:
            await visit(server, number)

    await asyncio.gather(*(one_after_the_other() for _ in range(AT_ONCE)))
    return await asyncio.to_thread(reading, server, store)


async def emptied(server: ServerProcess, store: Store) -> Reading:
    """What is left when nothing should be: waits until neither memory nor store has a room."""
    end = time.monotonic() + PATIENCE
    while True:
        now = await asyncio.to_thread(reading, server, store)
        over = not (now.rooms or now.connections or now.held or now.channels)
        if over or time.monotonic() > end:
            return now
        await asyncio.sleep(0.5)


async def rehearse(name: str, store: Store, folder: Path, rooms: int) -> list[str]:
    """Two rounds at one server; what is wrong with what was left."""
    times = ("--room-ttl", f"{LIFETIME}s", "--match-ttl", f"{LIFETIME}s")
    many = ("--max-rooms", str(4 * rooms))
    server = ServerProcess(folder / "server", *times, *many, store=store.url)
    await asyncio.to_thread(server.start)
    try:
        say(f"{name}: {rooms} rooms, {AT_ONCE} people at once\n{HEAD}")
        await visits(server, store, min(rooms, 200))
        left = [await emptied(server, store)]
        say(f"begin     {left[0]}")
        for number in (1, 2):
            begun = time.monotonic()
            full = await visits(server, store, rooms)
            say(f"round {number}   {full}   after {time.monotonic() - begun:.0f} s")
            left.append(await emptied(server, store))
            say(f"left      {left[-1]}")
    finally:
        await asyncio.to_thread(server.terminate)
        troubles = [entry for entry in server.entries if entry["level"] not in {"info", "debug"}]
        for entry in troubles[:5]:
            say(f"          {entry}")
    return [*wrong(*left), *(["the server's log has warnings"] if troubles else [])]


def wrong(first: Reading, once: Reading, twice: Reading) -> list[str]:
    """What doesn't return to where it was."""
    same = ("rooms", "connections", "tasks", "held", "channels")
    faults = [
        f"{name}: {getattr(first, name)} before, {getattr(left, name)} after"
        for left in (once, twice)
        for name in same
        if getattr(left, name) > getattr(first, name)
    ]
    for name in ("rss_mib", "files", "threads"):
        before, after = getattr(once, name), getattr(twice, name)
        if after > before * (1 + MAY_GROW) + 1:
            faults.append(f"{name}: {before} after one round, {after} after two")
    if twice.store_kib > first.store_kib + MAY_KEEP_KIB:
        faults.append(f"store: {first.store_kib} KiB before, {twice.store_kib} KiB after")
    return faults


def main() -> int:
    """Exit status: 0 if everything returned to where it was."""
    parser = argparse.ArgumentParser(prog="make rooms-test", description=__doc__)
    parser.add_argument("--rooms", type=int, default=10_000, help="rooms in each of two rounds")
    parser.add_argument("--store", choices=["sqlite", "redis"], help="on one kind of store alone")
    asked = parser.parse_args()
    rooms, faults = asked.rooms, list[str]()
    with tempfile.TemporaryDirectory(prefix="scopa-rooms-") as name:
        folder = Path(name)
        if asked.store != "redis":
            faults += asyncio.run(rehearse("SQLite", sqlite_store(folder), folder / "s", rooms))
        kind, program = next(iter(programs().items()))
        if asked.store == "sqlite":
            return told(faults)
        redis = RedisServer(program, folder)
        redis.start()
        try:
            faults += asyncio.run(rehearse(kind.title(), redis_store(redis), folder / "r", rooms))
        finally:
            redis.stop()
    return told(faults)


def told(faults: list[str]) -> int:
    """Say what is wrong; the exit status."""
    say("\n".join(faults) or "Everything returned to where it was.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

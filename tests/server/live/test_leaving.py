"""Rooms leave memory when nobody is there, and the store when their time is over: all of them."""

import asyncio
import contextlib
import gc
import sqlite3
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scopa_protocol import commands as c
from scopa_server.journal import Journal, open_journal
from scopa_server.journal.sqlite import SqliteJournal
from scopa_server.live.ledger import Lifetimes
from scopa_server.live.room import LiveRoom
from support.house import Guest, House
from support.redis_server import RedisServer, programs
from support.tables import token

ROOMS = 40
LIFETIME = Lifetimes(room=3, match=3)
PATIENCE = 60
REDIS_KINDS = sorted(programs())


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@dataclass
class Store:
    """A real store: its journal, how many rows or keys are in it, and who listens to it."""

    journal: Journal
    held: Callable[[], int]
    channels: Callable[[], int]
    pass_lifetimes: Callable[[], None]


@pytest.fixture(params=["sqlite", *REDIS_KINDS])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """A real store of every kind there is."""
    with _opened(request.param, tmp_path) as (opening, held, channels, passing):
        journal = await opening()
        yield Store(journal, held, channels, passing)
        await journal.close()


@contextlib.contextmanager
def _opened(kind: str, folder: Path) -> Iterator[tuple[Any, ...]]:
    if kind == "sqlite":
        path, passed = folder / "rooms.db", [0]
        wall = 1_700_000_000_000

        def later() -> None:
            passed[0] += 10_000

        yield (
            lambda: SqliteJournal.open(path, lambda: wall + passed[0]),
            lambda: rows(path),
            lambda: 0,
            later,
        )
        return
    server = RedisServer(programs()[kind], folder)
    server.start()
    yield (
        lambda: open_journal(server.url),
        lambda: int(server.ask("DBSIZE")[1:]),
        lambda: server.channels,
        lambda: None,
    )
    server.stop()


def rows(path: Path) -> int:
    """How much is in a SQLite file."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        tables = ("rooms", "commits", "snapshots", "tail")
        return sum(db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables)  # noqa: S608


async def visited(house: House, number: int) -> tuple[Guest, list[weakref.ref[Any]]]:
    """Somebody opens a room; in every other a match is begun with bots. What it is made of."""
    guest = Guest(house)
    asked = {"variant": "scopa", "players": 2}
    await house.rooms.create(guest.visitor, c.Create(name="Anna", rules=asked, token=token(number)))
    live = guest.visitor.room
    assert live is not None
    if number % 2:
        for command in (c.SeatBot(seat=1), c.Start()):
            await house.rooms.ask(guest.visitor, command)
        await until(lambda: live.room.phase == "playing")
    return guest, [weakref.ref(part) for part in (guest.visitor, *parts(live))]


def parts(live: LiveRoom) -> Iterator[object]:
    """Everything that a live room is made of."""
    table = live._table
    yield from (live, live._inbox, live._door, live._historian)
    yield from (table, table.ledger, table.audience, table.clocks, table._gossip)


async def come_and_gone(house: House, numbers: range) -> list[weakref.ref[Any]]:
    """Rooms are opened, all their people go, and time passes. What they were made of."""
    seen = []
    for number in numbers:
        guest, made_of = await visited(house, number)
        seen += made_of
        if guest.visitor.room is not None:
            guest.visitor.room.drop(guest.visitor)
    async with asyncio.timeout(PATIENCE):
        while len(house.rooms):
            house.time.advance(11)
            await asyncio.sleep(0.01)
    return seen


def collected(made_of: list[weakref.ref[Any]]) -> bool:
    """Whether nothing of it is in memory any more."""
    gc.collect()
    return all(part() is None for part in made_of)


async def test_rooms_leave_nothing_in_memory_or_in_the_store(store: Store) -> None:
    house = House(store=store.journal, lifetimes=LIFETIME)
    guest, _ = await visited(house, ROOMS)
    await until(lambda: store.channels() == store.journal.shared)
    assert store.held() > 0
    assert guest.visitor.room is not None
    guest.visitor.room.drop(guest.visitor)
    del guest
    await come_and_gone(house, range(2))
    gc.collect()
    tasks = asyncio.all_tasks()
    made_of = await come_and_gone(house, range(2, ROOMS))
    await until(lambda: asyncio.all_tasks() <= tasks)
    await until(lambda: collected(made_of))
    await until(lambda: store.channels() == 0)
    store.pass_lifetimes()
    await store.journal.sweep()
    await until(lambda: store.held() == 0)
    await house.rooms.close()


async def test_a_sqlite_file_uses_its_space_again(tmp_path: Path) -> None:
    with _opened("sqlite", tmp_path) as (opening, held, _, later):
        journal = await opening()
        house = House(store=journal, lifetimes=LIFETIME)
        sizes = []
        for begun in range(0, 4 * ROOMS, ROOMS):
            await come_and_gone(house, range(begun, begun + ROOMS))
            later()
            await journal.sweep()
            assert held() == 0
            sizes.append(pages(tmp_path / "rooms.db"))
        await house.rooms.close()
        await journal.close()
    assert sizes[-1] <= sizes[0] * 1.1


def pages(path: Path) -> int:
    """How many pages a SQLite file has, free ones too."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        count: int = db.execute("PRAGMA page_count").fetchone()[0]
        return count

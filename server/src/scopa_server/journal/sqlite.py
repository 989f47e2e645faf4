"""The journal in one SQLite file, for one process: nothing else to install or run."""

import asyncio
import secrets
import sqlite3
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from scopa_server.journal import sqlite_rows as rows
from scopa_server.journal.hints import EVERYBODY, Hint, Hints, Words
from scopa_server.journal.interface import (
    KEY_BYTES,
    LOOK,
    Commit,
    Draft,
    Snapshot,
    Stored,
    StoreRefused,
    Taken,
    Touch,
    Unavailable,
    plain_room,
    positive_ttl,
    whole_chain,
)
from scopa_server.journal.sqlite_file import Lock, connect, prepare
from scopa_server.journal.sqlite_places import Places
from scopa_server.journal.sqlite_tail import FILING, Filing, Tail
from scopa_server.journal.sqlite_writer import Writer

R = TypeVar("R")


def wall_clock() -> int:
    """Return this machine's time in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class SqliteJournal:
    """A `Journal` whose appends wait for the disk, all that wait together for one flush."""

    def __init__(self, path: Path, lock: Lock, clock: Callable[[], int], filing: Filing) -> None:
        self._lock = lock
        self._clock = clock
        self._hints = Hints()
        self._key = secrets.token_bytes(KEY_BYTES)
        self._writing = connect(path)
        self._reading = connect(path)
        self._places = Places()
        tail = Tail(self._writing, self._places, filing)
        tail.begin()
        self._writer = Writer(self._writing, tail, clock, self._hints.give)
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="journal-reader")
        self._closed = False

    @classmethod
    async def open(
        cls, path: Path, clock: Callable[[], int] = wall_clock, filing: Filing = FILING
    ) -> "SqliteJournal":
        """Open or create the file; raises `StoreRefused` when it is unsound or in use."""
        path = await asyncio.to_thread(path.resolve)
        lock = await asyncio.to_thread(prepare, path)
        try:
            return cls(path, lock, clock, filing)
        except sqlite3.Error as error:
            lock.release()
            raise StoreRefused(f"{path} can't be used: {error}") from error
        except BaseException:
            lock.release()
            raise

    @property
    def batches(self) -> int:
        """How many transactions there were so far."""
        return self._writer.batches

    def append(
        self, room: str, draft: Draft, *, header: bytes | None, ttl: int
    ) -> "asyncio.Future[Stored | Taken]":
        """Add a commit if it follows the log's top."""
        return self._writer.append(plain_room(room), draft, header, positive_ttl(ttl))

    @property
    def shared(self) -> bool:
        """Return that the file is this process's alone."""
        return False

    async def gossip(self, room: str, process: str, note: bytes, seconds: int) -> dict[str, bytes]:
        """Return nothing: there is nobody else."""
        return {}

    async def restore(
        self, room: str, commits: Sequence[Commit], *, header: bytes, ttl: int
    ) -> bool:
        """Bring a room in whole, unless it is there."""
        change = partial(
            Tail.restore,
            room=plain_room(room),
            commits=whole_chain(commits),
            header=header,
            ttl=positive_ttl(ttl),
        )
        return await self._writer.submit(change)

    async def read(self, room: str, after: int = 0) -> list[Commit]:
        """Return the commits above a number."""
        question = partial(rows.read, places=self._places, room=plain_room(room), after=after)
        return await self._ask(question)

    async def header(self, room: str) -> bytes | None:
        """Return the latest header."""
        return await self._ask(partial(rows.header, room=plain_room(room)))

    async def top(self, room: str) -> tuple[int, str] | None:
        """Return number and id of the newest commit."""
        return (await self.tops([room])).get(room)

    async def tops(self, rooms: Collection[str]) -> dict[str, tuple[int, str]]:
        """Return the tops of the rooms that exist."""
        codes = [plain_room(room) for room in rooms]
        return await self._ask(partial(rows.tops, places=self._places, rooms=codes))

    async def snapshot(self, room: str, snapshot: Snapshot) -> None:
        """Keep a snapshot if it is sound and newer."""
        await self._writer.submit(partial(Tail.snapshot, room=plain_room(room), new=snapshot))

    async def latest_snapshot(self, room: str) -> Snapshot | None:
        """Return the snapshot kept, if sound."""
        question = partial(rows.latest_snapshot, places=self._places, room=plain_room(room))
        return await self._ask(question)

    async def touch(self, rooms: Mapping[str, Touch]) -> None:
        """Note that rooms are shown and renew their time to live."""
        await self._writer.submit(partial(Tail.touch, touched=_positive(rooms)))

    async def shown(self, room: str) -> int | None:
        """Return the mark of the last touch."""
        return await self._ask(partial(rows.shown, room=plain_room(room)))

    @asynccontextmanager
    async def watch(self, room: str) -> AsyncGenerator[AsyncIterator[int], None]:
        """Hear of the room's new commits."""
        async with self._hints.listening(plain_room(room), Hint()) as hint:
            hint.give(LOOK)
            yield hint

    async def shared_key(self, seconds: int) -> bytes:
        """Return this process's own key: there is nobody to share it with."""
        return self._key

    async def publish(self, words: bytes) -> None:
        """Say it to whoever listens here."""
        self._hints.hear(EVERYBODY, words)

    def published(self) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Hear what is published."""
        return self._hints.listening(EVERYBODY, Words())

    async def rooms(self) -> AsyncIterator[str]:
        """List every room."""
        for room in await self._ask(rows.rooms):
            yield room

    async def delete(self, room: str) -> None:
        """Forget a room."""
        await self._writer.submit(partial(Tail.delete, room=plain_room(room)))

    async def sweep(self) -> None:
        """Remove rooms whose time is over, some at a time so that appends aren't held up."""
        while await self._writer.submit(Tail.sweep):
            pass

    async def ping(self) -> None:
        """Return if the file answers."""
        await self._ask(lambda db, _: db.execute("SELECT count(*) FROM rooms").fetchone())

    async def check(self) -> list[str]:
        """Return nothing: the settings are set at each opening."""
        return []

    async def close(self) -> None:
        """Write what was handed over, then close the file."""
        if self._closed:
            return
        self._closed = True
        await self._writer.close()
        self._hints.end()
        await asyncio.to_thread(self._let_go)

    def _let_go(self) -> None:
        self._reader.shutdown()
        self._reading.close()
        self._writing.close()
        self._lock.release()

    async def _ask(self, question: Callable[[sqlite3.Connection, int], R]) -> R:
        if self._closed:
            raise Unavailable("the journal is closed")
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._reader, question, self._reading, self._clock())
        except sqlite3.Error as error:
            raise Unavailable(f"the store failed: {error}") from error


def _positive(rooms: Mapping[str, Touch]) -> dict[str, Touch]:
    for room, new in rooms.items():
        plain_room(room)
        positive_ttl(new.ttl)
    return dict(rooms)

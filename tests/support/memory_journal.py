"""A store in memory that does what it is told: keeps, fails, or lets somebody else win."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from scopa_server.journal.hints import EVERYBODY, Hint, Hints, Words
from scopa_server.journal.interface import (
    KEY_BYTES,
    LOOK,
    LOST,
    Commit,
    Draft,
    Snapshot,
    Stored,
    Taken,
    Touch,
    Unavailable,
)


class MemoryJournal:
    """Logs in dictionaries. `down`: every call fails. `gate`: appends wait while it is clear."""

    def __init__(self, clock: Callable[[], int] = lambda: 0) -> None:
        self._clock = clock
        self.logs: dict[str, list[Commit]] = {}
        self.headers: dict[str, bytes] = {}
        self.snapshots: dict[str, Snapshot] = {}
        self.touched: dict[str, int] = {}
        self.down = False
        self.gate = asyncio.Event()
        self.gate.set()
        self.batches = 0
        self.asked = 0
        """Appends that were asked for, whatever came of them."""
        self.is_shared = False
        self.notes: dict[str, dict[str, bytes]] = {}
        self._hints = Hints()
        self.key = b"k" * KEY_BYTES
        self.waiting = 0

    def _check(self) -> None:
        if self.down:
            raise Unavailable("down")

    def append(
        self, room: str, draft: Draft, *, header: bytes | None, ttl: int
    ) -> Awaitable[Stored | Taken]:
        """Compare and append: there and then, but for the gate."""
        self.asked += 1
        if not self.gate.is_set():
            return self._late(room, draft, header)
        done = asyncio.get_running_loop().create_future()
        try:
            done.set_result(self._append(room, draft, header))
        except Unavailable as fault:
            done.set_exception(fault)
        return done

    async def _late(self, room: str, draft: Draft, header: bytes | None) -> Stored | Taken:
        self.waiting += 1
        await self.gate.wait()
        self.waiting -= 1
        return self._append(room, draft, header)

    def _append(self, room: str, draft: Draft, header: bytes | None) -> Stored | Taken:
        self._check()
        self.batches += 1
        log = self.logs.get(room, [])
        same = [commit for commit in log if commit.id == draft.id]
        if same:
            return Stored(same[0].at)
        top = (log[-1].number, log[-1].id) if log else (0, "")
        if (draft.number - 1, draft.previous) != top:
            return Taken()
        commit = Commit(draft.number, draft.id, draft.previous, self._clock(), draft.payload)
        self.logs[room] = [*log, commit]
        if header is not None:
            self.headers[room] = header
        self._hints.give(room, commit.number)
        return Stored(commit.at)

    @property
    def shared(self) -> bool:
        """Whether several houses stand on it."""
        return self.is_shared

    async def gossip(self, room: str, process: str, note: bytes, seconds: int) -> dict[str, bytes]:
        """Leave a note, return the others'."""
        self._check()
        notes = self.notes.setdefault(room, {})
        changed = notes.get(process, b"") != note
        notes[process] = note
        if changed:
            self._hints.give(room, LOOK)
        return {name: text for name, text in notes.items() if name != process and text}

    async def restore(
        self, room: str, commits: Sequence[Commit], *, header: bytes, ttl: int
    ) -> bool:
        """Bring a room in whole."""
        self._check()
        if room in self.logs:
            return False
        self.logs[room], self.headers[room] = list(commits), header
        return True

    async def read(self, room: str, after: int = 0) -> list[Commit]:
        """Commits above `after`."""
        self._check()
        return [commit for commit in self.logs.get(room, []) if commit.number > after]

    async def header(self, room: str) -> bytes | None:
        """The latest header."""
        self._check()
        return self.headers.get(room, LOST if room in self.logs else None)

    async def top(self, room: str) -> tuple[int, str] | None:
        """The newest commit."""
        self._check()
        log = self.logs.get(room)
        return (log[-1].number, log[-1].id) if log else None

    async def tops(self, rooms: Collection[str]) -> dict[str, tuple[int, str]]:
        """The newest commits."""
        found = {room: await self.top(room) for room in rooms}
        return {room: top for room, top in found.items() if top is not None}

    async def snapshot(self, room: str, snapshot: Snapshot) -> None:
        """Keep a snapshot."""
        self._check()
        self.snapshots[room] = snapshot

    async def latest_snapshot(self, room: str) -> Snapshot | None:
        """The snapshot kept."""
        self._check()
        return self.snapshots.get(room)

    async def touch(self, rooms: Mapping[str, Touch]) -> None:
        """Note that rooms are shown."""
        self._check()
        self.touched |= {room: new.mark for room, new in rooms.items()}

    async def shown(self, room: str) -> int | None:
        """When it was last shown."""
        self._check()
        return self.touched.get(room)

    @asynccontextmanager
    async def watch(self, room: str) -> AsyncGenerator[AsyncIterator[int], None]:
        """Hear of new commits."""
        async with self._hints.listening(room, Hint()) as hint:
            hint.give(LOOK)
            yield hint

    async def shared_key(self, seconds: int) -> bytes:
        """The same for all houses on it."""
        self._check()
        return self.key

    async def publish(self, words: bytes) -> None:
        """Say it to whoever listens."""
        self._check()
        self._hints.hear(EVERYBODY, words)

    def published(self) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Hear what is published."""
        return self._hints.listening(EVERYBODY, Words())

    async def rooms(self) -> AsyncIterator[str]:
        """Every room."""
        for room in list(self.logs):
            yield room

    async def delete(self, room: str) -> None:
        """Forget a room."""
        for kept in (self.logs, self.headers, self.snapshots, self.touched):
            kept.pop(room, None)

    async def sweep(self) -> None:
        """Nothing to do."""

    async def ping(self) -> None:
        """Whether it answers."""
        self._check()

    async def check(self) -> list[str]:
        """Nothing to say."""
        return []

    async def close(self) -> None:
        """Nothing to let go."""


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, journal: MemoryJournal, happens: Callable[[], Awaitable[Any]]
) -> None:
    """Let something happen just before the store gets the next commit."""
    append = journal.append

    async def late(room: str, draft: Draft, *, header: bytes | None, ttl: int) -> Stored | Taken:
        monkeypatch.setattr(journal, "append", append)
        await happens()
        return await append(room, draft, header=header, ttl=ttl)

    monkeypatch.setattr(journal, "append", late)

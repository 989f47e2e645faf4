"""Whatever is done to a SQLite journal, and whenever it files, it answers as if it never did."""

import asyncio
import shutil
import sqlite3
import tempfile
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from scopa_server.journal import (
    LOST,
    Commit,
    Draft,
    Snapshot,
    Stored,
    Taken,
    Touch,
    Unavailable,
)
from scopa_server.journal.sqlite import SqliteJournal
from scopa_server.journal.sqlite_tail import Filing
from support.drafts import DAY, chain
from support.failing_disk import Disk

START = 1_800_000_000_000
CODES = ("A", "B")
TTLS = (10, 1000)


@dataclass
class Kept:
    """A room as it must be."""

    expires: int
    commits: list[Commit] = field(default_factory=list)
    header: bytes = LOST
    shown: int | None = None
    snapshot: Snapshot | None = None


class Book:
    """What a journal with a clock must answer, kept in dictionaries."""

    def __init__(self) -> None:
        self.now = START
        self.kept: dict[str, Kept] = {}

    def living(self, room: str) -> Kept | None:
        kept = self.kept.get(room)
        return kept if kept is not None and kept.expires > self.now else None

    def append(self, room: str, new: Draft, header: bytes | None, ttl: int) -> Stored | Taken:
        kept = self.living(room)
        if kept is None:
            if new.number != 1:
                return Taken()
            kept = self.kept[room] = Kept(self.now + ttl * 1000)
        elif new.number <= len(kept.commits):
            held = kept.commits[new.number - 1]
            return Stored(held.at) if held.id == new.id else Taken()
        elif new.number != len(kept.commits) + 1 or new.previous != kept.commits[-1].id:
            return Taken()
        kept.commits.append(Commit(new.number, new.id, new.previous, self.now, new.payload))
        kept.header = kept.header if header is None else header
        expires = self.now + ttl * 1000
        if header is not None or abs(kept.expires - expires) > ttl * 10:
            kept.expires = expires
        return Stored(self.now)

    def restore(self, room: str, commits: list[Commit], header: bytes, ttl: int) -> bool:
        if self.living(room) is not None:
            return False
        self.kept[room] = Kept(self.now + ttl * 1000, list(commits), header)
        return True

    def snapshot(self, room: str, new: Snapshot) -> None:
        kept = self.living(room)
        if kept is None or (new.number, new.id) not in [(c.number, c.id) for c in kept.commits]:
            return
        if kept.snapshot is None or kept.snapshot.number < new.number:
            kept.snapshot = new

    def touch(self, room: str, touch: Touch) -> None:
        kept = self.living(room)
        if kept is not None:
            kept.shown, kept.expires = touch.mark, self.now + touch.ttl * 1000


class FilingMachine(RuleBasedStateMachine):
    """Whatever is done to a journal, and whenever it files, it is what the book says."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "0.db"
        self.book = Book()
        self.drafts = 0
        self.old: dict[str, list[Draft]] = {room: [] for room in CODES}
        self.journal: SqliteJournal | None = None

    def teardown(self) -> None:
        if self.journal is not None:
            self.runner.run(self.journal.close())
        self.runner.close()
        shutil.rmtree(self.folder)

    @property
    def there(self) -> SqliteJournal:
        assert self.journal is not None
        return self.journal

    def open(self) -> None:
        opening = SqliteJournal.open(self.path, lambda: self.book.now, self.filing)
        self.journal = self.runner.run(opening)
        self.disk = Disk.under(self.journal)

    @initialize(due=st.integers(1, 12), step=st.integers(1, 4))
    def begin(self, due: int, step: int) -> None:
        self.filing = Filing(due, step)
        self.open()

    def drafted(self, room: str, kind: str, which: int, payload: bytes) -> Draft:
        self.drafts += 1
        kept, old, identity = self.book.living(room), self.old[room], str(self.drafts)
        if kind == "again" and old:
            return old[which % len(old)]
        if kept is None or kind == "first":
            return Draft(1, identity, "", payload)
        top = kept.commits[-1]
        if kind == "rival" and top.number > 1:
            earlier = kept.commits[which % (top.number - 1)]
            return Draft(earlier.number + 1, identity, earlier.id, payload)
        return Draft(top.number + 1 + (kind == "gap"), identity, top.id, payload)

    appended = st.tuples(
        st.sampled_from(CODES),
        st.sampled_from(["next"] * 8 + ["again", "rival", "first", "gap"]),
        st.integers(0, 50),
        st.binary(max_size=3),
        st.sampled_from([None, None, None, b"head"]),
        st.sampled_from(TTLS),
    )

    @rule(several=st.lists(appended, min_size=1, max_size=6))
    def append(self, several: list[tuple[str, str, int, bytes, bytes | None, int]]) -> None:
        asked = []
        expected = []
        for room, kind, which, payload, header, ttl in several:
            new = self.drafted(room, kind, which, payload)
            self.old[room].append(new)
            asked.append((room, new, header, ttl))
            expected.append(self.book.append(room, new, header, ttl))

        async def at_once() -> list[Stored | Taken]:
            return await asyncio.gather(
                *(self.there.append(r, d, header=h, ttl=ttl) for r, d, h, ttl in asked)
            )

        assert self.runner.run(at_once()) == expected

    @rule(rooms=st.lists(st.sampled_from(CODES), min_size=1, max_size=3))
    def fail(self, rooms: list[str]) -> None:
        def break_(*_: Any) -> None:
            raise sqlite3.OperationalError("the disk")

        async def at_once() -> list[Any]:
            new = [(room, self.drafted(room, "next", 0, b"")) for room in rooms]
            asked = [self.there.append(r, d, header=b"no", ttl=DAY) for r, d in new]
            broken = self.there._writer.submit(break_)
            return await asyncio.gather(*asked, broken, return_exceptions=True)

        assert {type(outcome) for outcome in self.runner.run(at_once())} == {Unavailable}

    @rule(
        rooms=st.lists(st.sampled_from(CODES), min_size=1, max_size=4),
        after=st.integers(0, 14),
        failures=st.lists(st.booleans(), min_size=1, max_size=3),
    )
    def lose_the_disk(self, rooms: list[str], after: int, failures: list[bool]) -> None:
        """What isn't answered is sent again, as a room does it."""
        asked = [(room, self.drafted(room, "next", 0, b"")) for room in rooms]

        def send(room: str, new: Draft) -> Awaitable[Stored | Taken]:
            return self.there.append(room, new, header=b"head", ttl=1000)

        async def insist() -> list[Any]:
            outcomes = await asyncio.gather(
                *(send(*each) for each in asked), return_exceptions=True
            )
            while Unavailable in map(type, outcomes):
                again = [send(*each) for each in asked]
                outcomes = await asyncio.gather(*again, return_exceptions=True)
            while self.disk.plans:
                with suppress(Unavailable):
                    await self.there.touch({})
            return outcomes

        self.disk.plan(after, failures)
        expected = [self.book.append(room, new, b"head", 1000) for room, new in asked]
        assert self.runner.run(insist()) == expected

    @rule(seconds=st.sampled_from([1, 6, 6, 11, 1001]))
    def wait(self, seconds: int) -> None:
        self.book.now += seconds * 1000

    @rule(room=st.sampled_from(CODES))
    def delete(self, room: str) -> None:
        self.runner.run(self.there.delete(room))
        self.book.kept.pop(room, None)

    @rule()
    def sweep(self) -> None:
        self.runner.run(self.there.sweep())

    @rule(room=st.sampled_from(CODES), ttl=st.sampled_from(TTLS), mark=st.integers(0, 9))
    def touch(self, room: str, ttl: int, mark: int) -> None:
        self.runner.run(self.there.touch({room: Touch(ttl, mark)}))
        self.book.touch(room, Touch(ttl, mark))

    @rule(room=st.sampled_from(CODES), length=st.integers(1, 4), ttl=st.sampled_from(TTLS))
    def restore(self, room: str, length: int, ttl: int) -> None:
        commits = [Commit(d.number, d.id, d.previous, 7, b"") for d in chain([b""] * length)]
        done = self.runner.run(self.there.restore(room, commits, header=b"in", ttl=ttl))
        assert done == self.book.restore(room, commits, b"in", ttl)

    @rule(room=st.sampled_from(CODES), which=st.integers(0, 50), beside=st.booleans())
    def snapshot(self, room: str, which: int, beside: bool) -> None:
        kept = self.book.living(room)
        log = kept.commits if kept is not None else [Commit(1, "none", "", 0, b"")]
        of = log[which % len(log)]
        new = Snapshot(of.number, "beside" if beside else of.id, b"state %d" % of.number)
        self.runner.run(self.there.snapshot(room, new))
        self.book.snapshot(room, new)

    @rule()
    def reopen(self) -> None:
        self.runner.run(self.there.close())
        self.open()

    @rule()
    def crash(self) -> None:
        """Go on with what a process that dies now would leave."""
        left = self.path.with_stem(str(int(self.path.stem) + 1))
        for ending in ("", "-wal"):
            shutil.copy(f"{self.path}{ending}", f"{left}{ending}")
        self.runner.run(self.there.close())
        self.path = left
        self.open()

    @precondition(lambda self: self.journal is not None)
    @invariant()
    def is_what_the_book_says(self) -> None:
        self.runner.run(self.compare())

    async def compare(self) -> None:
        living = {room: kept for room in CODES if (kept := self.book.living(room)) is not None}
        assert {room async for room in self.there.rooms()} == living.keys()
        assert await self.there.tops(CODES) == {
            room: (kept.commits[-1].number, kept.commits[-1].id) for room, kept in living.items()
        }
        for room in CODES:
            kept = living.get(room, Kept(0))
            answers = await asyncio.gather(
                self.there.read(room),
                self.there.read(room, after=2),
                self.there.header(room),
                self.there.shown(room),
                self.there.latest_snapshot(room),
            )
            log, later, header, shown, snapshot = answers
            assert (log, later) == (kept.commits, kept.commits[2:])
            assert header == (kept.header if room in living else None)
            assert (shown, snapshot) == (kept.shown, kept.snapshot)


TestFiling = FilingMachine.TestCase
TestFiling.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)

"""Commits that aren't filed yet are of the log like any other; what is written is little."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import structlog

from scopa_server.journal import Commit, Snapshot, Stored, Taken, Touch, Unavailable, sqlite_tail
from scopa_server.journal import sqlite_rows as rows
from scopa_server.journal.sqlite import SqliteJournal
from scopa_server.journal.sqlite_file import connect
from scopa_server.journal.sqlite_places import Places
from scopa_server.journal.sqlite_tail import Filing
from support.drafts import DAY, after, chain, draft, new_room, store
from support.failing_disk import Disk
from support.sqlite_log import filed, lying, stored

START = 1_800_000_000_000
NEVER = Filing(due=10**6)
AT_ONCE = Filing(due=1, step=1)


class Clock:
    """A wall clock that moves when told."""

    now = START

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scopa.db"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def unfiled(path: Path, clock: Clock) -> AsyncIterator[SqliteJournal]:
    """A journal that never files."""
    opened = await SqliteJournal.open(path, clock, NEVER)
    yield opened
    await opened.close()


async def appended(journal: SqliteJournal, rooms: list[str], times: int) -> None:
    """Append to all rooms at once, some times."""
    logs = {room: chain([bytes(100)] * times) for room in rooms}
    for each in range(times):
        await asyncio.gather(
            *(journal.append(room, logs[room][each], header=None, ttl=DAY) for room in rooms)
        )


@contextmanager
def counting(path: Path) -> Iterator[Callable[[], int]]:
    """Count the pages that are written to the WAL; somebody reads, so that it isn't begun anew."""

    def count() -> int:
        _, frames, _ = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return int(frames)

    with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM rooms").fetchone()
        yield count


async def test_commits_of_many_rooms_are_written_to_few_pages(
    unfiled: SqliteJournal, path: Path
) -> None:
    rooms = [new_room() for _ in range(100)]
    logs = {room: chain([bytes(100)] * 5) for room in rooms}
    await asyncio.gather(*(store(unfiled, room, logs[room][:1]) for room in rooms))
    with counting(path) as count:
        await store(unfiled, rooms[0], logs[rooms[0]][1:2])
        begun, transactions = count(), unfiled.batches
        order = [*rooms[1:], *((rooms * 3)[:251])]
        for some in range(0, 350, 35):
            new = [logs[room].pop(1 + (room == rooms[0])) for room in order[some : some + 35]]
            outcomes = await asyncio.gather(
                *(
                    unfiled.append(room, each, header=None, ttl=DAY)
                    for room, each in zip(order[some:], new, strict=False)
                )
            )
            assert {type(outcome) for outcome in outcomes} == {Stored}
        assert unfiled.batches - transactions == 10
        # A transaction's commits fill two pages; then there are the one begun, the tree's root and
        # the file's first. Each in its room's place, they would take some 900.
        assert 10 <= count() - begun <= 60


async def test_filing_many_rooms_writes_each_page_once(path: Path) -> None:
    journal = await SqliteJournal.open(path, filing=Filing(due=1000, step=100))
    await appended(journal, [new_room() for _ in range(50)], 19)
    with counting(path) as count:
        await appended(journal, [new_room()], 1)
        begun = count()
        await appended(journal, [new_room() for _ in range(49)], 1)
        while lying(path):
            await journal.touch({})
        assert len(filed(path)) == 1000
        # Alone, each commit would have written its page and its room's.
        assert 50 <= count() - begun < 300
    await journal.close()


async def test_what_lies_in_the_tail_is_bounded(path: Path) -> None:
    journal = await SqliteJournal.open(path, filing=Filing(due=20, step=5))
    rooms = [new_room() for _ in range(30)]
    most = 0
    for _ in range(20):
        await appended(journal, rooms[:15], 1)
        rooms = rooms[15:] + [new_room() for _ in range(15)]
        most = max(most, len(lying(path)))
    await journal.close()
    assert most <= 20 + 10 * 15


async def test_unfiled_commits_of_a_deleted_room_never_come_back(
    unfiled: SqliteJournal, path: Path
) -> None:
    room, old, new = new_room(), chain([b"old"] * 5), chain([b"new"] * 3)
    await store(unfiled, room, old)
    await unfiled.delete(room)
    assert lying(path) == []
    assert await unfiled.append(room, after(old[4]), header=None, ttl=DAY) == Taken()
    await store(unfiled, room, new)
    assert [c.payload for c in await unfiled.read(room)] == [b"new"] * 3
    await unfiled.close()
    await drained(path)
    assert filed(path) == [(room, 1), (room, 2), (room, 3)]


async def drained(path: Path, clock: Clock | None = None) -> None:
    """Open a store and file all there is."""
    journal = await SqliteJournal.open(path, clock or Clock(), AT_ONCE)
    while lying(path):
        await journal.touch({})
    await journal.close()


@pytest.mark.parametrize("sweeps", [False, True])
async def test_unfiled_commits_of_a_room_whose_time_is_over_never_come_back(
    unfiled: SqliteJournal, path: Path, clock: Clock, sweeps: bool
) -> None:
    room, old, new = new_room(), chain([b"old"] * 5), draft(payload=b"new")
    await store(unfiled, room, old, ttl=10)
    await unfiled.snapshot(room, Snapshot(5, old[4].id, b"state"))
    clock.now += 11_000
    if sweeps:
        await unfiled.sweep()
        assert lying(path) == []
    await store(unfiled, room, [new])
    assert lying(path) == [(room, 1)]
    assert [c.payload for c in await unfiled.read(room)] == [b"new"]
    assert await unfiled.latest_snapshot(room) is None


async def test_copies_of_a_deleted_room_never_come_back(path: Path) -> None:
    """Deleted between the filing of its commits and their removal from the tail."""
    journal = await SqliteJournal.open(path, filing=Filing(due=4, step=1))
    room, old, new = new_room(), chain([b"old"] * 4), chain([b"new"] * 2)
    await store(journal, room, old)
    while len(filed(path)) < 2:
        await journal.touch({})
    assert len(lying(path)) == 4
    await journal.delete(room)
    assert lying(path) == filed(path) == []
    await store(journal, room, new)
    assert [c.payload for c in await journal.read(room)] == [b"new"] * 2
    await journal.close()


async def test_a_room_restored_over_unfiled_commits_is_only_what_was_restored(
    unfiled: SqliteJournal, clock: Clock
) -> None:
    room, copy = new_room(), new_room()
    await store(unfiled, room, chain([b"old"] * 5), ttl=10)
    await store(unfiled, copy, chain([b"new"] * 2))
    commits = await unfiled.read(copy)
    clock.now += 11_000
    assert await unfiled.restore(room, commits, header=b"", ttl=DAY)
    assert await unfiled.read(room) == commits
    assert isinstance(
        await unfiled.append(room, draft(3, commits[1].id), header=None, ttl=9), Stored
    )
    assert [c.number for c in await unfiled.read(room)] == [1, 2, 3]


@pytest.mark.parametrize("touches", [False, True])
async def test_a_room_whose_time_was_renewed_goes_on(
    unfiled: SqliteJournal, clock: Clock, touches: bool
) -> None:
    room, drafts = new_room(), chain([b""] * 4)
    await store(unfiled, room, drafts[:1], ttl=10)
    if touches:
        await unfiled.touch({room: Touch(100, 1)})
    else:
        await unfiled.append(room, drafts[1], header=None, ttl=100)
    clock.now += 99_000
    outcome = await unfiled.append(room, drafts[2 - touches], header=None, ttl=10)
    assert outcome == Stored(clock.now)
    clock.now += 10_000
    assert await unfiled.append(room, drafts[3 - touches], header=None, ttl=10) == Taken()


async def test_filing_that_fails_is_put_off_and_no_append_with_it(path: Path) -> None:
    journal = await SqliteJournal.open(path, filing=Filing(due=10, step=10))
    room, drafts = new_room(), chain([b""] * 40)
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "CREATE TRIGGER full BEFORE INSERT ON commits BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
        with structlog.testing.capture_logs() as logs:
            await store(journal, room, drafts[:25])
            await journal.touch({})
        assert [entry["event"] for entry in logs] == ["journal_filing_failed"] * 2
        assert filed(path) == []
        db.execute("DROP TRIGGER full")
    await store(journal, room, drafts[25:])
    assert [c.number for c in await journal.read(room)] == list(range(1, 41))
    while lying(path):
        await journal.touch({})
    assert len(filed(path)) == 40
    await journal.close()


async def test_after_a_step_filing_rests_unless_the_tail_gets_long(path: Path) -> None:
    journal = await SqliteJournal.open(path, filing=Filing(due=10, step=2, rest=1e9))
    room, drafts = new_room(), chain([b"x"] * 60)
    await store(journal, room, drafts[:19])
    assert len(filed(path)) == 2
    await store(journal, room, drafts[19:])
    await journal.close()
    assert len(filed(path)) > 20
    assert stored(path) == [(room, draft.number) for draft in drafts]


async def test_reads_amid_filing_see_whole_logs(path: Path) -> None:
    journal = await SqliteJournal.open(path, filing=Filing(due=5, step=2))
    rooms = {new_room(): chain([b""] * 40) for _ in range(4)}
    for each in range(40):
        for room, drafts in rooms.items():
            stored, log, top = await asyncio.gather(
                journal.append(room, drafts[each], header=None, ttl=DAY),
                journal.read(room),
                journal.top(room),
            )
            assert isinstance(stored, Stored)
            assert [c.id for c in log] in ([d.id for d in drafts[:n]] for n in (each, each + 1))
            assert (top[0] if top else 0) in (each, each + 1)
    await journal.close()


class Meanwhile(Places):
    """What another knows, and something that happens each time it has answered."""

    def __init__(self, known: Places, happens: Callable[[], object]) -> None:
        self._known = known
        self._happens = happens

    def above(self, room: str, number: int) -> list[int]:
        found = self._known.above(room, number)
        self._happens()
        return found

    def at(self, room: str, number: int) -> int:
        found = self._known.at(room, number)
        self._happens()
        return found


async def test_a_snapshot_replaced_while_it_is_read_is_found(
    unfiled: SqliteJournal, path: Path
) -> None:
    room, drafts = new_room(), chain([b""] * 2)
    loop = asyncio.get_running_loop()

    async def replace() -> None:
        await unfiled.append(room, drafts[1], header=None, ttl=DAY)
        await unfiled.snapshot(room, Snapshot(2, drafts[1].id, b"state 2"))

    def happen() -> None:
        asyncio.run_coroutine_threadsafe(replace(), loop).result()

    def read() -> Snapshot | None:
        with closing(connect(path)) as db:
            return rows.latest_snapshot(db, START, room, Meanwhile(unfiled._places, happen))

    await store(unfiled, room, drafts[:1])
    await unfiled.snapshot(room, Snapshot(1, drafts[0].id, b"state 1"))
    assert await asyncio.to_thread(read) is not None
    assert await unfiled.top(room) == (2, drafts[1].id)


async def test_a_new_room_is_restored_without_a_search(unfiled: SqliteJournal) -> None:
    """The tail may be long, and an import brings many rooms."""
    await appended(unfiled, [new_room()], 5)
    statements: list[str] = []
    unfiled._writing.set_trace_callback(statements.append)
    commits = [Commit(1, "a", "", START, b"")]
    assert await unfiled.restore(new_room(), commits, header=b"", ttl=DAY)
    unfiled._writing.set_trace_callback(None)
    assert statements
    assert not [each for each in statements if each.startswith("DELETE")]


async def test_commits_on_disk_come_once_though_readers_werent_told_of_all(
    unfiled: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    add = unfiled._places.add

    def fail(room: str, number: int, place: int) -> None:
        if told:
            raise MemoryError
        told.append(number)
        add(room, number, place)

    room, drafts = new_room(), chain([b""] * 3)
    with monkeypatch.context() as patch:
        patch.setattr(unfiled._places, "add", fail)
        outcomes = await asyncio.gather(
            *(unfiled.append(room, each, header=None, ttl=DAY) for each in drafts[:2]),
            return_exceptions=True,
        )
        assert {type(outcome) for outcome in outcomes} == {Unavailable}
    await store(unfiled, room, drafts)
    assert [c.id for c in await unfiled.read(room)] == [d.id for d in drafts]


async def test_a_rollback_that_fails_is_made_up_for(unfiled: SqliteJournal) -> None:
    room, drafts = new_room(), chain([b""] * 2)
    disk = Disk.under(unfiled)
    disk.plan(1, [False, False])
    with pytest.raises(Unavailable):
        await store(unfiled, room, drafts[:1])
    assert disk.in_transaction
    await store(unfiled, room, drafts)
    assert [c.id for c in await unfiled.read(room)] == [d.id for d in drafts]


async def test_rooms_that_the_writer_no_longer_knows_go_on(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_tail, "_KNOWN", 1)
    journal = await SqliteJournal.open(path, clock, Filing(due=8, step=2))
    logs = {new_room(): chain([b""] * 10) for _ in range(3)}
    for each in range(10):
        for room, drafts in logs.items():
            await store(journal, room, drafts[each : each + 1])
            rival = draft(each + 1, drafts[each].previous)
            assert await journal.append(room, rival, header=None, ttl=DAY) == Taken()
    for room, drafts in logs.items():
        assert [c.id for c in await journal.read(room)] == [d.id for d in drafts]
    await journal.close()

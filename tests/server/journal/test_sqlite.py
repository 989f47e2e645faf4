"""What only the SQLite store does: one file, one process, the disk and its failures."""

# ruff: noqa: ASYNC240 (nothing else runs while a test prepares its files)

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from scopa_server.journal import (
    Journal,
    Snapshot,
    Stored,
    StoreRefused,
    Taken,
    Touch,
    Unavailable,
    open_journal,
)
from support import appender
from support.drafts import after, chain, draft, new_room, store
from support.failing_disk import disk_full_at
from support.sqlite_log import stored

START = 1_800_000_000_000


class Clock:
    """A wall clock that moves when told."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def pass_seconds(self, seconds: int) -> None:
        self.now += seconds * 1000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "scopa.db"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def journal(path: Path, clock: Clock) -> AsyncIterator[Journal]:
    opened = await open_journal(f"sqlite:{path}", clock=clock)
    yield opened
    await opened.close()


async def refusal(path: Path) -> str:
    with pytest.raises(StoreRefused) as caught:
        await open_journal(f"sqlite:{path}")
    return str(caught.value)


async def test_file_and_folder_are_for_their_owner_alone(journal: Journal, path: Path) -> None:
    await store(journal, new_room(), [draft()])
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert set(modes) == {"scopa.db", "scopa.db-wal", "scopa.db-shm", "scopa.db.lock"}
    assert set(modes.values()) == {0o600}


async def test_clock_gives_the_stored_time(journal: Journal, clock: Clock) -> None:
    assert await journal.append(new_room(), draft(), header=None, ttl=10) == Stored(START)


async def test_room_is_gone_when_its_time_is_over(journal: Journal, clock: Clock) -> None:
    room, first = new_room(), draft()
    await store(journal, room, [first], ttl=10)
    await journal.snapshot(room, Snapshot(1, first.id, b"state"))
    clock.pass_seconds(10)
    assert await journal.read(room) == []
    assert await journal.header(room) is None
    assert await journal.top(room) is None
    assert await journal.latest_snapshot(room) is None
    assert [code async for code in journal.rooms()] == []
    assert await journal.append(room, after(first), header=None, ttl=10) == Taken()


async def test_expired_room_may_be_started_anew_before_a_sweep(
    journal: Journal, clock: Clock
) -> None:
    room, old, new = new_room(), chain([b"old"] * 3), draft(payload=b"new")
    await store(journal, room, old, ttl=10)
    await journal.snapshot(room, Snapshot(3, old[2].id, b"state"))
    clock.pass_seconds(11)
    await store(journal, room, [new], ttl=10)
    assert [c.payload for c in await journal.read(room)] == [b"new"]
    assert await journal.latest_snapshot(room) is None


async def test_a_time_to_live_is_renewed_once_that_makes_a_difference(
    journal: Journal, clock: Clock
) -> None:
    room, drafts = new_room(), chain([b""] * 4)

    async def goes_on(number: int, ttl: int) -> None:
        outcome = await journal.append(room, drafts[number - 1], header=None, ttl=ttl)
        assert isinstance(outcome, Stored)

    await goes_on(1, 1000)
    clock.pass_seconds(5)
    await goes_on(2, 1000)
    clock.pass_seconds(20)
    await goes_on(3, 1000)
    clock.pass_seconds(999)
    assert await journal.top(room) == (3, drafts[2].id)
    # A match that begins lives longer, from its first commit on.
    await goes_on(4, 9000)
    clock.pass_seconds(8999)
    assert await journal.top(room) == (4, drafts[3].id)
    clock.pass_seconds(1)
    assert await journal.top(room) is None


async def test_appending_and_touching_renew_the_time_to_live(
    journal: Journal, clock: Clock
) -> None:
    room, drafts = new_room(), chain([b"", b""])
    await store(journal, room, drafts[:1], ttl=10)
    clock.pass_seconds(9)
    await store(journal, room, drafts[1:], ttl=10)
    clock.pass_seconds(9)
    await journal.touch({room: Touch(10, 1)})
    clock.pass_seconds(9)
    assert len(await journal.read(room)) == 2


async def test_touch_doesnt_revive(journal: Journal, clock: Clock) -> None:
    room = new_room()
    await store(journal, room, [draft()], ttl=10)
    clock.pass_seconds(10)
    await journal.touch({room: Touch(10, 1)})
    assert await journal.top(room) is None


async def test_sweep_removes_only_expired_rooms(journal: Journal, clock: Clock, path: Path) -> None:
    kept, over = new_room(), [new_room() for _ in range(250)]
    await asyncio.gather(*(store(journal, room, [draft()], ttl=10) for room in over))
    await store(journal, kept, [draft()], ttl=20)
    clock.pass_seconds(15)
    await journal.sweep()
    assert stored(path) == [(kept, 1)]
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT room FROM rooms").fetchall() == [(kept,)]


async def test_second_opening_is_refused_until_closed(journal: Journal, path: Path) -> None:
    assert "in use by another server" in await refusal(path)
    link = path.with_name("link.db")
    link.symlink_to(path)
    assert "in use by another server" in await refusal(link)
    await journal.close()
    await (await open_journal(f"sqlite:{link}")).close()


@contextmanager
def appending_process(path: Path, *rooms: str, filing: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, appender.__file__, str(path), ",".join(rooms), filing]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("filing", "lines"), [("16000,250", 50), ("1,1", 51), ("4,1", 60), ("20,3", 90)]
)
async def test_kill_loses_nothing_that_was_acknowledged(
    path: Path, filing: str, lines: int
) -> None:
    rooms = [new_room(), new_room(), new_room()]
    with appending_process(path, *rooms, filing=filing) as process:
        assert process.stdout is not None
        heard = [process.stdout.readline() for _ in range(lines)]
        assert "in use by another server" in await refusal(path)
        process.kill()
        heard += process.stdout.readlines()
    acknowledged = [tuple(line.split()) for line in heard if line.endswith("\n")]
    journal = await open_journal(f"sqlite:{path}")
    more = 0
    for room in rooms:
        log = await journal.read(room)
        assert [c.previous for c in log] == ["", *(c.id for c in log[:-1])]
        expected = [words[1:] for words in acknowledged if words[0] == room]
        found = [(str(commit.number), commit.id) for commit in log]
        assert found[: len(expected)] == expected
        more += len(found) - len(expected)
        assert isinstance(
            await journal.append(room, draft(len(log) + 1, log[-1].id), header=None, ttl=10), Stored
        )
    await journal.close()
    assert more <= 1


async def filled(path: Path, rooms: int = 50) -> None:
    journal = await open_journal(f"sqlite:{path}")
    payload = bytes(2000)
    drafts = {new_room(): draft(payload=payload) for _ in range(rooms)}
    await asyncio.gather(*(store(journal, room, [each]) for room, each in drafts.items()))
    await journal.close()


async def test_torn_file_is_refused_and_left_alone(path: Path) -> None:
    await filled(path)
    torn = path.read_bytes()[:-9000]
    path.write_bytes(torn)
    assert "restore it from a backup" in await refusal(path)
    assert path.read_bytes() == torn


async def test_overwritten_page_is_refused(path: Path) -> None:
    await filled(path)
    content = bytearray(path.read_bytes())
    content[4096 * 4 : 4096 * 6] = b"\xaa" * 8192
    path.write_bytes(content)
    assert str(path) in await refusal(path)


@pytest.mark.parametrize(
    ("content", "words"), [(b"", "is empty"), (b"not a database at all" * 99, "not a database")]
)
async def test_what_is_no_database_is_refused_and_left_alone(
    path: Path, content: bytes, words: str
) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert words in await refusal(path)
    assert path.read_bytes() == content


async def test_another_programs_database_is_refused(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE theirs (x)")
    assert "something else" in await refusal(path)


async def test_unknown_schema_version_is_refused(path: Path) -> None:
    await filled(path, rooms=1)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 3")
    assert "schema version 3, this server knows 2" in await refusal(path)


async def test_lost_file_beside_its_wal_is_refused(path: Path) -> None:
    path.parent.mkdir()
    Path(f"{path}-wal").write_bytes(b"commits")
    assert "is gone but" in await refusal(path)
    assert not path.exists()


async def test_half_made_file_of_a_crash_is_made_anew(path: Path) -> None:
    path.parent.mkdir()
    Path(f"{path}.new").write_bytes(b"half")
    await filled(path, rooms=1)


async def test_folder_that_cant_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder.db").mkdir()
    opened = await refusal(tmp_path / "file" / "scopa.db")
    used = await refusal(tmp_path / "folder.db")
    assert "can't be opened" in opened
    assert "can't be used" in used
    assert all(
        said.endswith("name another file with --store sqlite:PATH") for said in (opened, used)
    )


async def test_full_disk_fails_the_batch_and_the_journal_serves_on(
    journal: Journal, path: Path
) -> None:
    room, drafts = new_room(), chain([b"one", b"two" * 9000, b"three"])
    await store(journal, room, drafts[:1])
    others = [new_room() for _ in range(5)]
    with disk_full_at(Path(f"{path}-wal").stat().st_size + 5000):
        outcomes = await asyncio.gather(
            journal.append(room, drafts[1], header=None, ttl=10),
            *(
                journal.append(other, draft(payload=bytes(9000)), header=None, ttl=10)
                for other in others
            ),
            return_exceptions=True,
        )
    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 6
    assert await journal.tops(others) == {}
    await store(journal, room, drafts[1:])
    assert len(await journal.read(room)) == 3
    await journal.close()
    again = await open_journal(f"sqlite:{path}", clock=Clock())
    assert len(await again.read(room)) == 3
    await again.close()


async def test_failed_read_is_unavailable(journal: Journal, path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE snapshots")
    with pytest.raises(Unavailable):
        await journal.latest_snapshot(new_room())
    await journal.ping()

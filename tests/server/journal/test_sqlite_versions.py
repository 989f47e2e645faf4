"""Files of earlier releases are brought up when they are opened, or left as they were."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import structlog

from scopa_server.journal import Snapshot, StoreRefused, open_journal
from scopa_server.journal import sqlite_rows as rows
from scopa_server.journal.sqlite import SqliteJournal
from support.drafts import draft, store
from support.failing_disk import disk_full_at

START = 1_800_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "scopa.db"


VERSION_1 = """
PRAGMA application_id = 1396920144;
PRAGMA user_version = 1;
CREATE TABLE rooms (
    room TEXT PRIMARY KEY,
    top INTEGER NOT NULL,
    top_id TEXT NOT NULL,
    header BLOB,
    expires INTEGER NOT NULL,
    shown INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX rooms_by_expiry ON rooms (expires);
CREATE TABLE commits (
    room TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    previous TEXT NOT NULL,
    at INTEGER NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (room, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE snapshots (
    room TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    payload BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO rooms VALUES ('OLD', 2, 'b', x'01', 1900000000000, 7);
INSERT INTO commits VALUES ('OLD', 1, 'a', '', 5, x'02'), ('OLD', 2, 'b', 'a', 6, x'03');
INSERT INTO snapshots VALUES ('OLD', 1, 'a', x'04');
"""


def write_version_1(path: Path) -> int:
    """Write a file as the first release did; gives its size in bytes."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(VERSION_1)
    return path.stat().st_size


async def test_a_file_of_the_first_version_is_brought_up(path: Path) -> None:
    write_version_1(path)
    for _ in range(2):
        journal = await open_journal(f"sqlite:{path}", clock=lambda: START)
        assert [c.id for c in await journal.read("OLD")][:2] == ["a", "b"]
        assert await journal.header("OLD") == b"\x01"
        assert await journal.shown("OLD") == 7
        assert await journal.latest_snapshot("OLD") == Snapshot(1, "a", b"\x04")
        top = await journal.top("OLD")
        assert top is not None
        await store(journal, "OLD", [draft(top[0] + 1, top[1])], header=b"\x01")
        await journal.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (2,)
        made = db.execute("SELECT sql FROM sqlite_schema ORDER BY name").fetchall()
    new = path.with_name("new.db")
    await (await SqliteJournal.open(new)).close()
    with closing(sqlite3.connect(new)) as db:
        assert db.execute("SELECT sql FROM sqlite_schema ORDER BY name").fetchall() == made


async def test_bringing_a_file_up_is_said_once(path: Path) -> None:
    write_version_1(path)
    for said in ([{"event": "store_brought_up", "version": 2, "log_level": "info"}], []):
        with structlog.testing.capture_logs() as logs:
            journal = await SqliteJournal.open(path)
        await journal.close()
        assert logs == said


async def test_a_tail_that_cant_be_read_refuses_the_file_and_lets_go(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(rows, "extent", failing)
        with pytest.raises(StoreRefused, match="can't be used: disk I/O error"):
            await SqliteJournal.open(path)
    journal = await SqliteJournal.open(path)
    await journal.close()


def failing(_: sqlite3.Connection) -> None:
    """Fail as a disk does."""
    raise sqlite3.OperationalError("disk I/O error")


async def test_a_file_that_cant_be_brought_up_is_left_as_it_was(path: Path) -> None:
    size = write_version_1(path)
    with (
        disk_full_at(size),
        pytest.raises(StoreRefused, match="can't be used"),
    ):
        await SqliteJournal.open(path)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM commits").fetchone() == (2,)
    await (await open_journal(f"sqlite:{path}")).close()

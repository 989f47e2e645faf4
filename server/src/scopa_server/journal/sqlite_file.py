"""The SQLite file: created whole, opened by one process, refused when it isn't sound."""

import contextlib
import fcntl
import os
import sqlite3
from pathlib import Path

import structlog

from scopa_server.journal.interface import StoreRefused

_log = structlog.get_logger(__name__)

APPLICATION = 0x53434F50
VERSION = 2
_BUSY_SECONDS = 5.0
_WAL_LIMIT = 64 * 1024 * 1024
_CHECKPOINT_PAGES = 250
"""Pages that the log of changes gets before they are brought to the file: whoever plays waits."""

_ELSEWHERE = "name another file with --store sqlite:PATH"

_TAIL = """
CREATE TABLE tail (
    place INTEGER PRIMARY KEY,
    room TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    previous TEXT NOT NULL,
    at INTEGER NOT NULL,
    payload BLOB NOT NULL
) STRICT;
"""

_SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
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
{_TAIL}"""

_BROUGHT_UP = {1: f"BEGIN IMMEDIATE; {_TAIL} PRAGMA user_version = 2; COMMIT;"}
"""What makes the next version of a file of an earlier one."""


class Lock:
    """Holds a store for this process; the system lets go of it when the process dies."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._handle)
            raise StoreRefused(
                f"{path} is in use by another server; stop that one, or {_ELSEWHERE}"
            ) from error

    def release(self) -> None:
        """Let another process have the store."""
        os.close(self._handle)


def prepare(path: Path) -> Lock:
    """Lock the store, create it if there is none, and make sure that it is sound."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = Lock(path)
    except OSError as error:
        raise StoreRefused(
            f"{path} can't be opened: {error.strerror}; mend that, or {_ELSEWHERE}"
        ) from error
    try:
        if not path.exists():
            _create(path)
        _examine(path)
    except (sqlite3.OperationalError, OSError) as error:
        lock.release()
        raise StoreRefused(f"{path} can't be used: {error}; mend that, or {_ELSEWHERE}") from error
    except sqlite3.DatabaseError as error:
        lock.release()
        raise StoreRefused(f"{path} is damaged; restore it from a backup ({error})") from error
    except BaseException:
        lock.release()
        raise
    return lock


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection that may move between threads and begins no transaction by itself."""
    db = sqlite3.connect(
        f"{path.as_uri()}?mode=rw",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    db.execute("PRAGMA synchronous = FULL")
    db.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT}")
    db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    return db


def _create(path: Path) -> None:
    if Path(f"{path}-wal").exists():
        raise StoreRefused(f"{path} is gone but {path}-wal is there; restore both from a backup")
    draft = Path(f"{path}.new")
    # Made aside and moved into place: an empty or half-made file at `path` is never ours.
    draft.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with contextlib.closing(connect(draft)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(_SCHEMA)
    draft.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _examine(path: Path) -> None:
    if path.stat().st_size == 0:
        raise StoreRefused(f"{path} is empty; restore it from a backup or move it away")
    with contextlib.closing(connect(path)) as db:
        version = _expect(path, db)
        verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise StoreRefused(f"{path} is damaged; restore it from a backup ({verdict})")
        db.execute("PRAGMA journal_mode = WAL")
        for earlier in range(version, VERSION):
            db.executescript(_BROUGHT_UP[earlier])
            _log.info("store_brought_up", version=earlier + 1)


def _expect(path: Path, db: sqlite3.Connection) -> int:
    """The version of a file that is ours."""
    application = db.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION:
        raise StoreRefused(f"{path} is a database of something else; name another file")
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION and version not in _BROUGHT_UP:
        raise StoreRefused(
            f"{path} has schema version {version}, this server knows {VERSION}; "
            "use the release that wrote it"
        )
    return version

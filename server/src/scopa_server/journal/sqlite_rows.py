"""The statements: every question and change a journal puts to SQLite."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scopa_server.journal.interface import Commit, Draft, Snapshot, Stored, Taken, Touch

_TABLES = ("rooms", "commits", "snapshots")
_SWEPT_AT_ONCE = 100
_RENEWED = 100
"""A room's time isn't renewed while less than one part in so many of it has passed."""


def append(
    db: sqlite3.Connection, now: int, room: str, draft: Draft, header: bytes | None, ttl: int
) -> tuple[Stored | Taken, bool]:
    """Add a commit if it follows the top; also return whether it is new to the log."""
    expires = now + ttl * 1000
    if not _move_top(db, now, room, draft, header, expires):
        held = _living(db, now, room)
        if held is not None and draft.number <= held[0]:
            return _compare(db, room, draft), False
        if held is not None or draft.number != 1:
            return Taken(), False
        delete(db, now, room)
        _insert_room(db, room, draft, header, expires)
    db.execute(
        "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?)",
        (room, draft.number, draft.id, draft.previous, now, draft.payload),
    )
    return Stored(now), True


def _move_top(
    db: sqlite3.Connection, now: int, room: str, draft: Draft, header: bytes | None, expires: int
) -> bool:
    """Make a commit a room's top if it follows the present one.

    While the room's time is as good as renewed, it stays: its index need not be written again.
    """
    follows = room, draft.number - 1, draft.previous, now
    if header is None:
        slack = (expires - now) // _RENEWED
        moved = db.execute(
            "UPDATE rooms SET top = ?, top_id = ? WHERE room = ? AND top = ? AND top_id = ?"
            " AND expires > ? AND expires BETWEEN ? AND ?",
            (draft.number, draft.id, *follows, expires - slack, expires + slack),
        )
        if moved.rowcount == 1:
            return True
    moved = db.execute(
        "UPDATE rooms SET top = ?, top_id = ?, header = coalesce(?, header), expires = ?"
        " WHERE room = ? AND top = ? AND top_id = ? AND expires > ?",
        (draft.number, draft.id, header, expires, *follows),
    )
    return moved.rowcount == 1


def _living(db: sqlite3.Connection, now: int, room: str) -> tuple[int, str] | None:
    row: Any = db.execute(
        "SELECT top, top_id FROM rooms WHERE room = ? AND expires > ?", (room, now)
    ).fetchone()
    return row and (row[0], row[1])


def _compare(db: sqlite3.Connection, room: str, draft: Draft) -> Stored | Taken:
    identity, at = db.execute(
        "SELECT id, at FROM commits WHERE room = ? AND number = ?", (room, draft.number)
    ).fetchone()
    return Stored(at) if identity == draft.id else Taken()


def _insert_room(
    db: sqlite3.Connection, room: str, top: Draft | Commit, header: bytes | None, expires: int
) -> None:
    db.execute(
        "INSERT INTO rooms (room, top, top_id, header, expires) VALUES (?, ?, ?, ?, ?)",
        (room, top.number, top.id, header, expires),
    )


def restore(
    db: sqlite3.Connection,
    now: int,
    room: str,
    commits: Sequence[Commit],
    header: bytes,
    ttl: int,
) -> bool:
    """Insert a whole log, unless the room is there."""
    if _living(db, now, room) is not None:
        return False
    delete(db, now, room)
    db.executemany(
        "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?)",
        [(room, c.number, c.id, c.previous, c.at, c.payload) for c in commits],
    )
    _insert_room(db, room, commits[-1], header, now + ttl * 1000)
    return True


def read(db: sqlite3.Connection, now: int, room: str, after: int) -> list[Commit]:
    """Return a room's commits above a number."""
    rows = db.execute(
        "SELECT number, id, previous, at, payload FROM commits JOIN rooms USING (room)"
        " WHERE room = ? AND number > ? AND expires > ? ORDER BY number",
        (room, after, now),
    )
    return [Commit(*row) for row in rows]


def header(db: sqlite3.Connection, now: int, room: str) -> bytes | None:
    """Return a room's header, `LOST` if it has none."""
    found: bytes | None = _field(db, now, room, "coalesce(header, x'')")
    return found


def shown(db: sqlite3.Connection, now: int, room: str) -> int | None:
    """Return the mark of a room's last touch."""
    found: int | None = _field(db, now, room, "shown")
    return found


def _field(db: sqlite3.Connection, now: int, room: str, column: str) -> Any:
    question = f"SELECT {column} FROM rooms WHERE room = ? AND expires > ?"  # noqa: S608
    row = db.execute(question, (room, now)).fetchone()
    return row and row[0]


def tops(db: sqlite3.Connection, now: int, rooms: Iterable[str]) -> dict[str, tuple[int, str]]:
    """Return the tops of those rooms that exist."""
    found = {room: _living(db, now, room) for room in rooms}
    return {room: top for room, top in found.items() if top is not None}


def snapshot(db: sqlite3.Connection, now: int, room: str, new: Snapshot) -> None:
    """Keep a snapshot of a commit in the log if it is newer than the sound one kept."""
    known = db.execute(
        "SELECT 1 FROM commits JOIN rooms USING (room)"
        " WHERE room = ? AND number = ? AND id = ? AND expires > ?",
        (room, new.number, new.id, now),
    ).fetchone()
    kept = latest_snapshot(db, now, room)
    if known and (kept is None or kept.number < new.number):
        db.execute(
            "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)",
            (room, new.number, new.id, new.payload),
        )


def latest_snapshot(db: sqlite3.Connection, now: int, room: str) -> Snapshot | None:
    """Return the snapshot kept if its commit is in the log."""
    row = db.execute(
        "SELECT s.number, s.id, s.payload FROM snapshots s"
        " JOIN commits c ON c.room = s.room AND c.number = s.number AND c.id = s.id"
        " JOIN rooms r ON r.room = s.room WHERE s.room = ? AND r.expires > ?",
        (room, now),
    ).fetchone()
    return row and Snapshot(*row)


def touch(db: sqlite3.Connection, now: int, rooms: Mapping[str, Touch]) -> None:
    """Note that rooms are shown and move their expiry."""
    db.executemany(
        "UPDATE rooms SET shown = ?, expires = ? WHERE room = ? AND expires > ?",
        [(new.mark, now + new.ttl * 1000, room, now) for room, new in rooms.items()],
    )


def rooms(db: sqlite3.Connection, now: int) -> list[str]:
    """Return every living room."""
    rows = db.execute("SELECT room FROM rooms WHERE expires > ?", (now,))
    return [room for (room,) in rows]


def delete(db: sqlite3.Connection, _now: int, room: str) -> None:
    """Remove everything of a room."""
    for table in _TABLES:
        db.execute(f"DELETE FROM {table} WHERE room = ?", (room,))  # noqa: S608


def sweep(db: sqlite3.Connection, now: int) -> bool:
    """Remove some expired rooms; return whether there may be more."""
    over = db.execute(
        "SELECT room FROM rooms WHERE expires <= ? LIMIT ?", (now, _SWEPT_AT_ONCE)
    ).fetchall()
    for (room,) in over:
        delete(db, now, room)
    return len(over) == _SWEPT_AT_ONCE

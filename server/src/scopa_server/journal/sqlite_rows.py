"""The statements: every question and change a journal puts to SQLite."""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias

from scopa_server.journal.interface import Commit, Snapshot, Touch
from scopa_server.journal.sqlite_places import Places

Row: TypeAlias = tuple[int, str, int, str, str, int, bytes]
"""A commit in the tail: its place, room, number, id, its predecessor's id, its time, the events."""

_TABLES: Final = ("rooms", "commits", "snapshots", "tail")


def add(db: sqlite3.Connection, new: Sequence[Row]) -> None:
    """Add commits to the tail."""
    db.executemany("INSERT INTO tail VALUES (?, ?, ?, ?, ?, ?, ?)", new)


def extent(db: sqlite3.Connection) -> tuple[int, int]:
    """Return how many rows the tail has, and its last place or 0."""
    count, last = db.execute("SELECT count(*), coalesce(max(place), 0) FROM tail").fetchone()
    return count, last


def room(db: sqlite3.Connection, room: str) -> tuple[int, str, int] | None:
    """Return number and id of a room's newest filed commit, and when its time is over."""
    found: tuple[int, str, int] | None = db.execute(
        "SELECT top, top_id, expires FROM rooms WHERE room = ?", (room,)
    ).fetchone()
    return found


def lying(db: sqlite3.Connection, room: str, place: int) -> tuple[int, str] | None:
    """Return number and id of a room's commit at a place in the tail."""
    found: tuple[int, str] | None = db.execute(
        "SELECT number, id FROM tail WHERE place = ? AND room = ?", (place, room)
    ).fetchone()
    return found


def commit(db: sqlite3.Connection, room: str, number: int, place: int) -> tuple[str, int] | None:
    """Return id and time of a commit that is filed, or at a place in the tail."""
    found: tuple[str, int] | None = db.execute(
        "SELECT id, at FROM commits WHERE room = ?1 AND number = ?2 UNION ALL"
        " SELECT id, at FROM tail WHERE place = ?3 AND room = ?1 AND number = ?2",
        (room, number, place),
    ).fetchone()
    return found


def open_room(db: sqlite3.Connection, room: str, header: bytes | None, expires: int) -> None:
    """Insert a room of which nothing is filed."""
    db.execute(
        "INSERT INTO rooms (room, top, top_id, header, expires) VALUES (?, 0, '', ?, ?)",
        (room, header, expires),
    )


def renew(db: sqlite3.Connection, room: str, header: bytes | None, expires: int) -> None:
    """Move a room's expiry, and replace its header if there is one."""
    db.execute(
        "UPDATE rooms SET header = coalesce(?, header), expires = ? WHERE room = ?",
        (header, expires, room),
    )


def restore(
    db: sqlite3.Connection, room: str, commits: Sequence[Commit], header: bytes, expires: int
) -> None:
    """Insert a whole log."""
    db.executemany(
        "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?)",
        [(room, c.number, c.id, c.previous, c.at, c.payload) for c in commits],
    )
    db.execute(
        "INSERT INTO rooms (room, top, top_id, header, expires) VALUES (?, ?, ?, ?, ?)",
        (room, commits[-1].number, commits[-1].id, header, expires),
    )


def read(db: sqlite3.Connection, now: int, room: str, after: int, places: Places) -> list[Commit]:
    """Return a room's commits above a number."""
    rows = db.execute(
        "SELECT c.number, c.id, c.previous, c.at, c.payload"
        " FROM commits AS c JOIN rooms AS r ON r.room = c.room"
        " WHERE c.room = ?1 AND c.number > ?2 AND r.expires > ?3 UNION ALL"
        " SELECT t.number, t.id, t.previous, t.at, t.payload FROM json_each(?4) AS j"
        " CROSS JOIN tail AS t ON t.place = j.value JOIN rooms AS r ON r.room = t.room"
        " WHERE t.room = ?1 AND t.number > max(?2, r.top) AND r.expires > ?3 ORDER BY 1",
        (room, after, now, json.dumps(places.above(room, after))),
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


def tops(
    db: sqlite3.Connection, now: int, rooms: Collection[str], places: Places
) -> dict[str, tuple[int, str]]:
    """Return the tops of those rooms that exist."""
    rows = db.execute(
        "SELECT r.room, coalesce(t.number, r.top), coalesce(t.id, r.top_id)"
        " FROM json_each(?) AS j CROSS JOIN rooms AS r ON r.room = j.key"
        " LEFT JOIN tail AS t ON t.place = j.value AND t.room = r.room AND t.number > r.top"
        " WHERE r.expires > ?",
        (json.dumps({room: places.last(room) for room in rooms}), now),
    )
    # A room that was begun anew since its place was asked for was missing in between.
    return {room: (number, identity) for room, number, identity in rows if number}


def kept_snapshot(db: sqlite3.Connection, room: str) -> tuple[int, str] | None:
    """Return number and id of the commit that a room's snapshot is of."""
    found: tuple[int, str] | None = db.execute(
        "SELECT number, id FROM snapshots WHERE room = ?", (room,)
    ).fetchone()
    return found


def keep_snapshot(db: sqlite3.Connection, room: str, new: Snapshot) -> None:
    """Replace a room's snapshot."""
    db.execute(
        "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)",
        (room, new.number, new.id, new.payload),
    )


def latest_snapshot(db: sqlite3.Connection, now: int, room: str, places: Places) -> Snapshot | None:
    """Return the snapshot kept if its commit is in the log."""
    row = db.execute(
        "SELECT s.number, s.id, s.payload FROM snapshots AS s JOIN rooms AS r ON r.room = s.room"
        " WHERE s.room = ? AND r.expires > ?",
        (room, now),
    ).fetchone()
    if row is None:
        return None
    kept = Snapshot(*row)
    # Asked for now: the snapshot may be of a commit that came a moment ago.
    found = commit(db, room, kept.number, places.at(room, kept.number))
    return kept if found is not None and found[0] == kept.id else None


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


def expired(db: sqlite3.Connection, now: int, most: int) -> list[str]:
    """Return some rooms whose time is over."""
    rows = db.execute("SELECT room FROM rooms WHERE expires <= ? LIMIT ?", (now, most))
    return [room for (room,) in rows]


def wipe(db: sqlite3.Connection, rooms: Sequence[str]) -> int:
    """Remove everything of some rooms; return how many rows the tail has less."""
    codes = (json.dumps(rooms),)
    removed = 0
    for table in _TABLES:
        question = f"DELETE FROM {table} WHERE room IN (SELECT value FROM json_each(?))"  # noqa: S608
        removed = db.execute(question, codes).rowcount
    return removed


def file(db: sqlite3.Connection, places: Sequence[int], rooms: Sequence[str]) -> None:
    """Copy commits, in the order of rooms and numbers, to where they stay; move the rooms' tops."""
    db.execute(
        "INSERT INTO commits SELECT t.room, t.number, t.id, t.previous, t.at, t.payload"
        " FROM json_each(?) AS j CROSS JOIN tail AS t ON t.place = j.value",
        (json.dumps(places),),
    )
    db.execute(
        "UPDATE rooms SET (top, top_id) = (SELECT c.number, c.id FROM commits AS c"
        " WHERE c.room = rooms.room ORDER BY c.number DESC LIMIT 1)"
        " WHERE room IN (SELECT value FROM json_each(?))",
        (json.dumps(rooms),),
    )


def remove(db: sqlite3.Connection, mark: int, most: int) -> int:
    """Remove the tail's first rows up to a place, so many at most; return how many."""
    found = db.execute(
        "SELECT max(place) FROM (SELECT place FROM tail WHERE place <= ? ORDER BY place LIMIT ?)",
        (mark, most),
    ).fetchone()
    return db.execute("DELETE FROM tail WHERE place <= ?", found).rowcount

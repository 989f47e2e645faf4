"""The statements: every question and change a journal puts to SQLite."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, TypeAlias

from scopa_server.journal.interface import Commit, Draft, Snapshot, Stored, Taken, Touch

_TABLES = ("rooms", "commits", "snapshots")
_SWEPT_AT_ONCE = 100

Change: TypeAlias = Callable[[sqlite3.Connection, int], Any]
"""What to do inside a transaction, given the store's time in milliseconds."""


@dataclass(frozen=True, slots=True)
class Append:
    """A commit to be added, as a change that is made faster together with others."""

    room: str
    draft: Draft
    header: bytes | None
    ttl: int

    def __call__(self, db: sqlite3.Connection, now: int) -> tuple[Stored | Taken, bool]:
        """Add it."""
        return append(db, now, self)


def make_all(db: sqlite3.Connection, now: int, changes: Iterable[Change]) -> list[Any]:
    """Make changes in their order; return the results."""
    results: list[Any] = []
    for together, run in groupby(changes, key=lambda change: isinstance(change, Append)):
        if together:
            results += _append_all(
                db, now, [change for change in run if isinstance(change, Append)]
            )
        else:
            results += [change(db, now) for change in run]
    return results


def _append_all(
    db: sqlite3.Connection, now: int, appends: Sequence[Append]
) -> list[tuple[Stored | Taken, bool]]:
    """Add commits with few statements: after each this thread has to wait for its turn again."""
    tops = _tops_at_once(db, now, [add.room for add in appends])
    results: list[tuple[Stored | Taken, bool]] = []
    following: list[Append] = []
    for add in appends:
        if tops.get(add.room) == [add.draft.number - 1, add.draft.previous]:
            tops[add.room] = [add.draft.number, add.draft.id]
            following.append(add)
            results.append((Stored(now), True))
        else:
            _insert_all(db, now, following)
            following = []
            results.append(add(db, now))
            # Of this room the next one has to look for itself.
            tops.pop(add.room, None)
    _insert_all(db, now, following)
    return results


def _tops_at_once(db: sqlite3.Connection, now: int, rooms: Sequence[str]) -> dict[str, list[Any]]:
    (found,) = db.execute(
        "SELECT json_group_object(room, json_array(top, top_id)) FROM rooms"
        " WHERE room IN (SELECT value FROM json_each(?)) AND expires > ?",
        (json.dumps(rooms), now),
    ).fetchone()
    tops: dict[str, list[Any]] = json.loads(found)
    return tops


_AT_ONCE: Final = (32, 16, 8, 4, 2, 1)
"""Rows of one statement. With few sizes the statements stay prepared."""


def _insert_all(db: sqlite3.Connection, now: int, appends: Sequence[Append]) -> None:
    done = 0
    while done < len(appends):
        some = next(rows for rows in _AT_ONCE if rows <= len(appends) - done)
        _insert_some(db, now, appends[done : done + some])
        done += some


def _insert_some(db: sqlite3.Connection, now: int, appends: Sequence[Append]) -> None:
    commits: list[Any] = []
    rooms: list[Any] = []
    for add in appends:
        draft = add.draft
        commits += (add.room, draft.number, draft.id, draft.previous, now, draft.payload)
        rooms += (add.room, draft.number, draft.id, add.header, now + add.ttl * 1000)
    more = len(appends) - 1
    db.execute(_INSERT_COMMITS + ", (?, ?, ?, ?, ?, ?)" * more, commits)
    db.execute(_INSERT_ROOMS + ", (?, ?, ?, ?, ?)" * more + _OR_UPDATE, rooms)


_INSERT_COMMITS: Final = "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?)"
_INSERT_ROOMS: Final = (
    "INSERT INTO rooms (room, top, top_id, header, expires) VALUES (?, ?, ?, ?, ?)"
)
_OR_UPDATE: Final = (
    " ON CONFLICT DO UPDATE SET top = excluded.top, top_id = excluded.top_id,"
    " header = coalesce(excluded.header, header), expires = excluded.expires"
)


def append(db: sqlite3.Connection, now: int, add: Append) -> tuple[Stored | Taken, bool]:
    """Add a commit if it follows the top; also return whether it is new to the log."""
    room, draft = add.room, add.draft
    held = _living(db, now, room)
    if held is None:
        if draft.number != 1:
            return Taken(), False
        delete(db, now, room)
    elif draft.number <= held[0]:
        return _compare(db, room, draft), False
    elif (draft.number - 1, draft.previous) != held:
        return Taken(), False
    _insert_some(db, now, [add])
    return Stored(now), True


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
        _INSERT_COMMITS,
        [(room, c.number, c.id, c.previous, c.at, c.payload) for c in commits],
    )
    top = commits[-1]
    db.execute(
        _INSERT_ROOMS,
        (room, top.number, top.id, header, now + ttl * 1000),
    )
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

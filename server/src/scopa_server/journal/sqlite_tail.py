"""The end of the log: commits in the order they came, filed under their rooms some thousand later.

A transaction with commits of many rooms so writes a page or two, where each room's own place in
the file would cost it several; and what is filed together goes to pages that are written once.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from scopa_server.journal import sqlite_rows as rows
from scopa_server.journal.interface import Commit, Draft, Snapshot, Stored, Taken, Touch
from scopa_server.journal.sqlite_places import Places

_SWEPT_AT_ONCE: Final = 100
_RENEWED: Final = 100
"""A room's time isn't renewed while less than one part in so many of it has passed."""
_REMOVED: Final = 3
"""So many rows are removed as quickly as one is filed."""
_KNOWN: Final = 10_000
"""Rooms that the writer knows before it forgets them all, so that memory is bounded."""
_TAKEN: Final = Taken()


class Filing(NamedTuple):
    """How many commits the tail may hold before it is filed, and how many are at a time at least.

    `rest`: how many times as long as that took nothing is filed, unless the tail gets twice as
    long: whoever plays would wait for many steps one after the other.
    """

    due: int = 16_000
    step: int = 75
    rest: float = 0.0


FILING: Final = Filing(rest=9.0)


@dataclass(slots=True)
class _Room:
    """What the writer knows of a room: its newest commit, and when its time is over."""

    top: int
    id: str
    expires: int


class Tail:
    """The writer's side of the log: all changes, made within one transaction after another.

    `begin` starts each, after its BEGIN, and comes once before anybody reads. `write` comes before
    its COMMIT, and before whatever looks into the file. `kept` follows, or `lost` if it failed.

    In the file a room's `top` is the newest commit that is filed. Of the tail's rows those up to
    it are copies, and those above go on from it. A room that is gone leaves no rows.
    """

    def __init__(self, db: sqlite3.Connection, places: Places, filing: Filing) -> None:
        self._db = db
        self._places = places
        self._filing = filing
        self._sound = False
        self._rooms: dict[str, _Room] = {}
        self._next = 1
        self._held = 0
        self._added: list[rows.Row] = []
        self._written = 0
        self._gone: list[str] = []
        self._filed: list[tuple[str, int]] = []
        self._queue: list[str] = []
        self._mark = 0
        self._due = filing.due
        self._least = 0

    def begin(self) -> None:
        """Know what the file holds, and not too much of it."""
        if not self._sound:
            self._rooms.clear()
            self._places.read(self._db)
            self._held, last = rows.extent(self._db)
            # Readers may still think of a place that a failed transaction had given out.
            self._next = max(self._next, last + 1)
            self._sound = True
        if len(self._rooms) > _KNOWN:
            self._rooms.clear()

    def write(self) -> None:
        """Bring what was added to the file."""
        new = self._added[self._written :]
        rows.add(self._db, new)
        self._written += len(new)
        self._held += len(new)

    def kept(self) -> None:
        """Let readers find what is now on disk."""
        for room in self._gone:
            self._places.forget(room)
        for place, room, number, *_ in self._added:
            self._places.add(room, number, place)
        for room, count in self._filed:
            self._places.filed(room, count)
        if self._added:
            # Filed more slowly than it grows, the tail would have no bound.
            self._least = 2 * len(self._added)
        self._settle()

    def lost(self) -> None:
        """Forget what was thought to become of the file."""
        self._sound = False
        self._mark = 0
        self._settle()

    def _settle(self) -> None:
        self._added, self._written, self._gone, self._filed = [], 0, [], []

    def append(
        self, now: int, room: str, draft: Draft, header: bytes | None, ttl: int
    ) -> tuple[Stored | Taken, bool]:
        """Add a commit if it follows the top; also return whether it is new to the log.

        While the room's time is as good as renewed, it stays: its row need not be written again.
        """
        expires = now + ttl * 1000
        known = self._known(room)
        if known is None or known.expires <= now:
            if draft.number != 1:
                return _TAKEN, False
            known = self._open(room, known, header, expires)
        elif draft.number != known.top + 1 or draft.previous != known.id:
            return self._compare(room, draft, known.top), False
        elif header is not None or abs(known.expires - expires) > (expires - now) // _RENEWED:
            rows.renew(self._db, room, header, expires)
            known.expires = expires
        known.top, known.id = draft.number, draft.id
        self._added.append(
            (self._next, room, draft.number, draft.id, draft.previous, now, draft.payload)
        )
        self._next += 1
        return Stored(now), True

    def _open(self, room: str, over: _Room | None, header: bytes | None, expires: int) -> _Room:
        if over is not None:
            self._wipe([room])
        rows.open_room(self._db, room, header, expires)
        opened = self._rooms[room] = _Room(0, "", expires)
        return opened

    def _known(self, room: str) -> _Room | None:
        found = self._rooms.get(room)
        if found is None:
            row = rows.room(self._db, room)
            if row is None:
                return None
            filed, filed_id, expires = row
            lying = rows.lying(self._db, room, self._places.last(room))
            number, identity = lying or (filed, filed_id)
            found = self._rooms[room] = _Room(number, identity, expires)
        return found

    def _compare(self, room: str, draft: Draft, top: int) -> Stored | Taken:
        if draft.number > top:
            return _TAKEN
        found = self._find(room, draft.number)
        return Stored(found[1]) if found is not None and found[0] == draft.id else _TAKEN

    def _find(self, room: str, number: int) -> tuple[str, int] | None:
        """The id and time of a commit in the log."""
        self.write()
        lately = [row[0] for row in self._added if row[1:3] == (room, number)]
        place = lately[0] if lately else self._places.at(room, number)
        return rows.commit(self._db, room, number, place)

    def _holds(self, room: str, number: int, identity: str) -> bool:
        found = self._find(room, number)
        return found is not None and found[0] == identity

    def restore(
        self, now: int, room: str, commits: Sequence[Commit], header: bytes, ttl: int
    ) -> bool:
        """Insert a whole log, unless the room is there."""
        known = self._known(room)
        if known is not None:
            if known.expires > now:
                return False
            self._wipe([room])
        rows.restore(self._db, room, commits, header, now + ttl * 1000)
        return True

    def snapshot(self, now: int, room: str, new: Snapshot) -> None:
        """Keep a snapshot of a commit in the log if it is newer than the sound one kept."""
        known = self._known(room)
        if known is None or known.expires <= now or not self._holds(room, new.number, new.id):
            return
        kept = rows.kept_snapshot(self._db, room)
        if kept is None or kept[0] < new.number or not self._holds(room, *kept):
            rows.keep_snapshot(self._db, room, new)

    def touch(self, now: int, touched: Mapping[str, Touch]) -> None:
        """Note that rooms are shown and move their expiry."""
        rows.touch(self._db, now, touched)
        for room, new in touched.items():
            known = self._rooms.get(room)
            if known is not None and known.expires > now:
                known.expires = now + new.ttl * 1000

    def delete(self, _now: int, room: str) -> None:
        """Remove everything of a room."""
        self._wipe([room])

    def sweep(self, now: int) -> bool:
        """Remove some expired rooms; return whether there may be more."""
        over = rows.expired(self._db, now, _SWEPT_AT_ONCE)
        if over:
            self._wipe(over)
        return len(over) == _SWEPT_AT_ONCE

    def _wipe(self, gone: Sequence[str]) -> None:
        """Remove rooms with all they have in any table, so that nothing comes back."""
        self.write()
        self._held -= rows.wipe(self._db, gone)
        self._gone += gone
        self._added = [row for row in self._added if row[1] not in gone]
        self._written = len(self._added)
        for room in gone:
            self._rooms.pop(room, None)

    @property
    def due(self) -> bool:
        """Whether there is something to file."""
        return self._mark > 0 or self._held >= self._due

    @property
    def rest(self) -> float:
        """How many times as long as a step has taken the next may be put off."""
        return 0.0 if self._held >= 2 * self._filing.due else self._filing.rest

    def file(self) -> None:
        """File some commits, the rooms one after another, or remove some that are filed.

        A transaction of its own: if it fails, no append does, and whoever waits for one doesn't
        wait for this.
        """
        if self._mark == 0:
            self._mark = self._next - 1
            self._queue = sorted(self._places.rooms(), reverse=True)
        step = max(self._filing.step, self._least)
        if self._queue:
            self._file(step)
        elif removed := rows.remove(self._db, self._mark, _REMOVED * step):
            self._held -= removed
        else:
            self._mark = 0
            self._due = self._filing.due

    def _file(self, step: int) -> None:
        chosen: list[int] = []
        while self._queue and len(chosen) < step:
            room = self._queue.pop()
            places = self._places.above(room, 0)
            some = places[: step - len(chosen)]
            if len(some) < len(places):
                self._queue.append(room)
            if some:
                self._filed.append((room, len(some)))
            chosen += some
        rows.file(self._db, chosen, [room for room, _ in self._filed])

    def put_off(self) -> None:
        """File nothing before as many commits again have come."""
        self._due = self._held + self._filing.due

"""A disk below a SQLite journal that fails when it is told."""

import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from scopa_server.journal.sqlite import SqliteJournal


class Disk:
    """A connection whose statements fail when told, some before they are carried out."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._plan: list[bool | None] = []

    @classmethod
    def under(cls, journal: SqliteJournal) -> "Disk":
        """The disk that a journal writes to from now on."""
        disk, writer = cls(journal._writing), journal._writer
        writer._db = writer._tail._db = cast("sqlite3.Connection", disk)
        return disk

    @property
    def in_transaction(self) -> bool:
        """As the connection says."""
        return self._db.in_transaction

    @property
    def plans(self) -> bool:
        """Whether a failure is still to come."""
        return bool(self._plan)

    def plan(self, after: int, failures: list[bool]) -> None:
        """Fail some statements from now; each says whether it is carried out all the same."""
        self._plan = [None] * after + failures

    def execute(self, *what: Any) -> sqlite3.Cursor:
        """Carry a statement out, or fail."""
        return self._do(self._db.execute, *what)

    def executemany(self, *what: Any) -> sqlite3.Cursor:
        """Carry a statement out many times, or fail."""
        return self._do(self._db.executemany, *what)

    def _do(self, statement: Callable[..., sqlite3.Cursor], *what: Any) -> sqlite3.Cursor:
        carried_out = self._plan.pop(0) if self._plan else None
        done = None if carried_out is False else statement(*what)
        if done is None or carried_out:
            raise sqlite3.OperationalError("the disk")
        return done


@contextmanager
def disk_full_at(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size; the system answers with an error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

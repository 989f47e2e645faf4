"""The one thread that writes: what waits at the same moment goes into one transaction.

It is woken once for all that the event loop has for it in one round. Woken for each, it would take
the first alone to the disk, and get in the way of the others.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, Generic, TypeVar

import structlog

from scopa_server.journal.interface import Draft, Stored, Taken, Unavailable
from scopa_server.journal.sqlite_tail import Tail

R = TypeVar("R")
Change = Callable[[Tail, int], R]
"""What to do inside a transaction, given the store's time in milliseconds."""

_log = structlog.get_logger(__name__)


class Job(Generic[R]):
    """A change, and who waits for it."""

    __slots__ = ("_change", "_waiting")

    def __init__(self, change: Change[R], waiting: "asyncio.Future[R]") -> None:
        self._change = change
        self._waiting = waiting

    def make(self, tail: Tail, now: int) -> R:
        """Make the change."""
        return self._change(tail, now)

    def settle(self, result: R) -> None:
        """Give the result of a change that is on disk."""
        if not self._waiting.done():
            self._waiting.set_result(result)

    def fail(self, reason: str) -> None:
        """Say that the change wasn't made."""
        if not self._waiting.done():
            self._waiting.set_exception(Unavailable(reason))


class Append(Job[Stored | Taken]):
    """A commit to add; the room's watchers hear of it even if nobody waits any more."""

    __slots__ = ("_draft", "_header", "_hear", "_new", "_room", "_ttl")

    def __init__(
        self,
        room: str,
        draft: Draft,
        header: bytes | None,
        ttl: int,
        waiting: "asyncio.Future[Stored | Taken]",
        hear: Callable[[str, int], None],
    ) -> None:
        self._room = room
        self._draft = draft
        self._header = header
        self._ttl = ttl
        self._waiting = waiting
        self._hear = hear
        self._new = False

    def make(self, tail: Tail, now: int) -> Stored | Taken:
        """Add it if it follows."""
        outcome, self._new = tail.append(now, self._room, self._draft, self._header, self._ttl)
        return outcome

    def settle(self, result: Stored | Taken) -> None:
        """Give the outcome, which is on disk."""
        if not self._waiting.done():
            self._waiting.set_result(result)
        if self._new:
            self._hear(self._room, self._draft.number)


class Writer:
    """Makes changes in the order they were handed over, many to a transaction."""

    def __init__(
        self,
        db: sqlite3.Connection,
        tail: Tail,
        clock: Callable[[], int],
        hear: Callable[[str, int], None],
    ) -> None:
        self._db = db
        self._tail = tail
        self._clock = clock
        self._hear = hear
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[list[Job[Any]] | None] = queue.SimpleQueue()
        self._round: list[Job[Any]] = []
        self._closed = False
        self._rests_until = 0.0
        self.batches = 0
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self._thread.start()

    def append(
        self, room: str, draft: Draft, header: bytes | None, ttl: int
    ) -> "asyncio.Future[Stored | Taken]":
        """Hand a commit over; cancelling the future doesn't take it back."""
        waiting: asyncio.Future[Stored | Taken] = self._loop.create_future()
        self._take(Append(room, draft, header, ttl, waiting, self._hear))
        return waiting

    def submit(self, change: Change[R]) -> "asyncio.Future[R]":
        """Hand a change over; cancelling the future doesn't take it back."""
        waiting: asyncio.Future[R] = self._loop.create_future()
        self._take(Job(change, waiting))
        return waiting

    def _take(self, job: Job[Any]) -> None:
        if self._closed:
            raise Unavailable("the journal is closed")
        if not self._round:
            self._loop.call_soon(self._hand_over)
        self._round.append(job)

    def _hand_over(self) -> None:
        if self._round:
            jobs, self._round = self._round, []
            self._jobs.put(jobs)

    async def close(self) -> None:
        """Make the changes handed over so far, then end the thread."""
        if not self._closed:
            self._closed = True
            self._hand_over()
            self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        open_ = True
        while open_:
            jobs, open_ = self._gather()
            if jobs:
                self._report(*self._change(jobs))
                self._file()

    def _gather(self) -> tuple[list[Job[Any]], bool]:
        jobs: list[Job[Any]] = []
        more = self._jobs.get()
        while more is not None:
            jobs += more
            try:
                more = self._jobs.get_nowait()
            except queue.Empty:
                return jobs, True
        return jobs, False

    def _change(self, jobs: list[Job[Any]]) -> tuple[Callable[..., None], list[Job[Any]], Any]:
        self.batches += 1

        def change() -> list[Any]:
            now = self._clock()
            return [job.make(self._tail, now) for job in jobs]

        try:
            results = self._transact(change)
        except Exception as error:  # whatever it was, the thread serves on
            return _fail_all, jobs, f"the store failed: {error}"
        return _settle_all, jobs, results

    def _file(self) -> None:
        """File a little between one transaction and the next, where there is something to file."""
        begun = monotonic()
        if not self._tail.due or (begun < self._rests_until and self._tail.rest):
            return
        try:
            self._transact(self._tail.file)
        except Exception as error:  # the log is whole without
            _log.warning("journal_filing_failed", reason=str(error))
            self._tail.put_off()
        self._rests_until = begun + (1 + self._tail.rest) * (monotonic() - begun)

    def _transact(self, change: Callable[[], R]) -> R:
        try:
            self._roll_back()
            self._db.execute("BEGIN IMMEDIATE")
            self._tail.begin()
            result = change()
            self._tail.write()
            self._db.execute("COMMIT")
            self._tail.kept()
        except BaseException:
            self._roll_back()
            self._tail.lost()
            raise
        return result

    def _roll_back(self) -> None:
        """Leave a transaction that failed, also one that couldn't be left when it did."""
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.Error as error:
            _log.error("journal_rollback_failed", reason=str(error))

    def _report(
        self, tell: Callable[..., None], jobs: list[Job[Any]], outcome: list[Any] | str
    ) -> None:
        try:
            self._loop.call_soon_threadsafe(tell, jobs, outcome)
        except RuntimeError:  # the loop was closed under us: nobody waits
            self._closed = True


def _settle_all(jobs: list[Job[Any]], results: list[Any]) -> None:
    for job, result in zip(jobs, results, strict=True):
        job.settle(result)


def _fail_all(jobs: list[Job[Any]], reason: str) -> None:
    _log.warning("journal_write_failed", reason=reason, changes=len(jobs))
    for job in jobs:
        job.fail(reason)

"""The one thread that writes: what waits at the same moment goes into one transaction.

It is woken once for all that the event loop has for it in one round. Woken for each, it would take
the first alone to the disk, and get in the way of the others.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import structlog

from scopa_server.journal.interface import Unavailable

R = TypeVar("R")
Change = Callable[[sqlite3.Connection, int], R]
"""What to do inside a transaction, given the store's time in milliseconds."""

_log = structlog.get_logger(__name__)


class Job(Generic[R]):
    """A change, who waits for it, and what follows from it even if nobody waits any more."""

    def __init__(
        self, change: Change[R], waiting: "asyncio.Future[R]", then: Callable[[R], None]
    ) -> None:
        self.change = change
        self._waiting = waiting
        self._then = then

    def settle(self, result: R) -> None:
        """Give the result of a change that is on disk."""
        if not self._waiting.done():
            self._waiting.set_result(result)
        self._then(result)

    def fail(self, reason: str) -> None:
        """Say that the change wasn't made."""
        if not self._waiting.done():
            self._waiting.set_exception(Unavailable(reason))


class Writer:
    """Makes changes in the order they were handed over, many to a transaction."""

    def __init__(self, db: sqlite3.Connection, clock: Callable[[], int]) -> None:
        self._db = db
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[list[Job[Any]] | None] = queue.SimpleQueue()
        self._round: list[Job[Any]] = []
        self._closed = False
        self.batches = 0
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self._thread.start()

    def submit(
        self, change: Change[R], then: Callable[[R], None] = lambda _: None
    ) -> "asyncio.Future[R]":
        """Hand a change over; cancelling the future doesn't take it back."""
        if self._closed:
            raise Unavailable("the journal is closed")
        waiting: asyncio.Future[R] = self._loop.create_future()
        if not self._round:
            self._loop.call_soon(self._hand_over)
        self._round.append(Job(change, waiting, then))
        return waiting

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
                self._report(self._transact(jobs))

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

    def _transact(self, jobs: list[Job[Any]]) -> Callable[[], None]:
        self.batches += 1
        try:
            self._db.execute("BEGIN IMMEDIATE")
            now = self._clock()
            results = [job.change(self._db, now) for job in jobs]
            self._db.execute("COMMIT")
        except Exception as error:  # whatever it was, the thread serves on
            self._roll_back()
            reason = f"the store failed: {error}"
            return lambda: _fail_all(jobs, reason)
        return lambda: _settle_all(jobs, results)

    def _roll_back(self) -> None:
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.Error as error:
            _log.error("journal_rollback_failed", reason=str(error))

    def _report(self, outcome: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(outcome)
        except RuntimeError:  # the loop was closed under us: nobody waits
            self._closed = True


def _settle_all(jobs: list[Job[Any]], results: list[Any]) -> None:
    for job, result in zip(jobs, results, strict=True):
        job.settle(result)


def _fail_all(jobs: list[Job[Any]], reason: str) -> None:
    _log.warning("journal_write_failed", reason=reason, changes=len(jobs))
    for job in jobs:
        job.fail(reason)

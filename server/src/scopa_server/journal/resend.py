"""Appends over a connection that may fail: each is sent until its outcome is known."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from scopa_server.journal.interface import Unavailable, Unresolved
from scopa_server.journal.link import Broken, Link, Refusal, Unreached, end
from scopa_server.journal.scripts import Command

Sleep = Callable[[float], Awaitable[None]]

_SENT_AT_ONCE = 256
_FIRST_DELAY = 0.05
_LONGEST_DELAY = 1.0

_log = structlog.get_logger(__name__)


class Pending:
    """An append whose outcome isn't known; once it was in doubt it is sent to the end."""

    def __init__(self, command: Command, waiting: "asyncio.Future[int]") -> None:
        self.command = command
        self.doubtful = False
        self._waiting = waiting

    def settle(self, at: int) -> None:
        """Give the store's answer."""
        if not self._waiting.done():
            self._waiting.set_result(at)

    def fail(self, error: Exception) -> None:
        """Say why there is no answer."""
        if not self._waiting.done():
            self._waiting.set_exception(error)


class Resender:
    """One writer: what waits at the same moment goes out together, over one connection."""

    def __init__(self, link: Link, sleep: Sleep) -> None:
        self._link = link
        self._sleep = sleep
        self._pending: list[Pending] = []
        self._work = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False
        self._failures = 0
        self._task: asyncio.Task[None] | None = None
        self.batches = 0

    def submit(self, command: Command) -> "asyncio.Future[int]":
        """Hand an append over; cancelling the future doesn't take it back."""
        if self._closed:
            raise Unavailable("the journal is closed")
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="journal-resender")
        waiting: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._pending.append(Pending(command, waiting))
        self._idle.clear()
        self._work.set()
        return waiting

    async def close(self, seconds: float) -> None:
        """Wait that long for outcomes, then give up on the rest."""
        self._closed = True
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        await end(self._task)
        for pending in self._pending:
            closed = Unresolved if pending.doubtful else Unavailable
            pending.fail(closed("the journal was closed"))
        self._pending.clear()
        await self._link.drop()

    async def _run(self) -> None:
        while True:
            await self._work.wait()
            await self._round()
            if not self._pending:
                self._work.clear()
                self._idle.set()

    async def _round(self) -> None:
        try:
            await self._link.open()
            refused = await self._exchange(self._pending[:_SENT_AT_ONCE])
        except Unreached as error:
            self._give_up_unsent(str(error))
            await self._back_off()
        except Broken as error:
            _log.warning("journal_answer_lost", reason=str(error), waiting=len(self._pending))
            await self._start_over()
        else:
            if refused is None:
                self._failures = 0
            else:
                # A replica, or a store that is loading: the next connection may find a better.
                _log.warning("journal_refused", code=refused.code)
                await self._start_over()

    async def _start_over(self) -> None:
        await self._link.drop()
        await self._back_off()

    async def _exchange(self, batch: list[Pending]) -> Refusal | None:
        self.batches += 1
        before = [pending.doubtful for pending in batch]
        for pending in batch:
            pending.doubtful = True
        await self._link.send([pending.command for pending in batch])
        refused: Refusal | None = None
        for pending, doubtful in zip(batch, before, strict=True):
            answer = await self._link.receive()
            if not isinstance(answer, Refusal):
                self._pending.remove(pending)
                pending.settle(answer)
                continue
            refused = answer
            if not doubtful:
                # This sending changed nothing; had there been an earlier one, it still might.
                self._pending.remove(pending)
                pending.fail(Unavailable(f"the store refused: {answer.code}"))
        return refused

    def _give_up_unsent(self, reason: str) -> None:
        for pending in self._pending:
            if not pending.doubtful:
                pending.fail(Unavailable(reason))
        self._pending = [pending for pending in self._pending if pending.doubtful]

    async def _back_off(self) -> None:
        if not self._pending:
            return
        delay = min(_LONGEST_DELAY, _FIRST_DELAY * 2 ** min(self._failures, 10))
        self._failures += 1
        await self._sleep(delay * random.uniform(0.5, 1.0))  # noqa: S311

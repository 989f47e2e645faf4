"""Appends over a connection that may fail: each is sent until its outcome is known."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, Protocol

import structlog

from scopa_server.journal.interface import Stored, Taken, Unavailable, Unresolved
from scopa_server.journal.link import Broken, Link, Refusal, Unreached, background, end
from scopa_server.journal.scripts import ASKING, Command

Sleep = Callable[[float], Awaitable[None]]

_SENT_AT_ONCE = 256
_FIRST_DELAY = 0.05
_LONGEST_DELAY = 1.0
_UNKNOWN_SCRIPT = "NOSCRIPT"
"""The store has forgotten what a new connection will teach it again."""

_log = structlog.get_logger(__name__)


class Pending:
    """An append whose outcome isn't known; once it was in doubt it is sent to the end.

    `asking`: it is allowed in a slot that is on its way to this node. `strayed`: how often it was
    sent to a node that wasn't the right one.
    """

    __slots__ = ("_waiting", "asking", "command", "doubtful", "room", "strayed")

    def __init__(
        self, room: str, command: Command, waiting: "asyncio.Future[Stored | Taken]"
    ) -> None:
        self.room = room
        self.command = command
        self.doubtful = False
        self.asking = False
        self.strayed = 0
        self._waiting = waiting

    def settle(self, at: int) -> None:
        """Give the store's answer: when it was stored, 0 if it wasn't."""
        if not self._waiting.done():
            self._waiting.set_result(Stored(at) if at else Taken())

    def fail(self, error: Exception) -> None:
        """Say why there is no answer."""
        if not self._waiting.done():
            self._waiting.set_exception(error)

    def give_up(self) -> None:
        """The journal is closed."""
        closed = Unresolved if self.doubtful else Unavailable
        self.fail(closed("the journal was closed"))


class Guide(Protocol):
    """Knows which node of a cluster an append is for."""

    def redirect(self, pending: Pending, refusal: Refusal) -> bool:
        """Take an append over for which this was the wrong node; whether it was."""
        ...

    async def look_again(self) -> None:
        """Find out anew which node has what, if that can be found out."""
        ...

    def take_over(self, pending: Pending, former: "Resender") -> bool:
        """Give an append to its node; false if that is the former one."""
        ...


class NoGuide:
    """There is only one node."""

    def redirect(self, pending: Pending, refusal: Refusal) -> bool:
        """Nobody else could have it."""
        return False

    async def look_again(self) -> None:
        """Nothing changes."""

    def take_over(self, pending: Pending, former: "Resender") -> bool:
        """Nobody else could have it."""
        return False


_NO_GUIDE: Final = NoGuide()


class Resender:
    """One writer: what waits at the same moment goes out together, over one connection."""

    def __init__(self, link: Link, sleep: Sleep, guide: Guide = _NO_GUIDE) -> None:
        self._link = link
        self._sleep = sleep
        self._guide = guide
        self._pending: list[Pending] = []
        self._work = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closing = False
        self._closed = False
        self._failures = 0
        self._task: asyncio.Task[None] | None = None
        self.batches = 0

    @property
    def idle(self) -> bool:
        """Whether nothing waits here."""
        return not self._pending

    def submit(self, room: str, command: Command) -> "asyncio.Future[Stored | Taken]":
        """Hand an append over; cancelling the future doesn't take it back."""
        if self._closing:
            raise Unavailable("the journal is closed")
        waiting: asyncio.Future[Stored | Taken] = asyncio.get_running_loop().create_future()
        self.adopt(Pending(room, command, waiting))
        return waiting

    def adopt(self, pending: Pending) -> None:
        """Take an append over."""
        if self._closed:
            pending.give_up()
            return
        if self._task is None:
            self._task = background(self._run(), "journal-resender")
        self._pending.append(pending)
        self._idle.clear()
        self._work.set()

    async def close(self, seconds: float) -> None:
        """Wait that long for outcomes, then give up on the rest."""
        self._closing = True
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        self._closed = True
        await end(self._task)
        for pending in self._pending:
            pending.give_up()
        self._pending.clear()
        await self._link.drop()

    async def _run(self) -> None:
        while True:
            await self._work.wait()
            try:
                await self._round()
            except Exception:
                # A task that ended would leave all appends waiting for good.
                _log.exception("journal_fault")
                await self._link.drop()
                await self._back_off()
            if not self._pending:
                self._work.clear()
                self._idle.set()

    async def _round(self) -> None:
        try:
            await self._link.open()
            refused = await self._exchange(self._pending[:_SENT_AT_ONCE])
        except Unreached as error:
            await self._look_again()
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
        await self._look_again()
        await self._back_off()

    async def _look_again(self) -> None:
        """Let go of what another node has to answer for by now."""
        await self._guide.look_again()
        kept = [each for each in self._pending if not self._guide.take_over(each, self)]
        self._pending = kept

    async def _exchange(self, batch: list[Pending]) -> Refusal | None:
        self.batches += 1
        before = [pending.doubtful for pending in batch]
        commands: list[Command] = []
        for pending in batch:
            pending.doubtful = True
            commands += (ASKING, pending.command) if pending.asking else (pending.command,)
        await self._link.send(commands)
        try:
            answers, broken = await self._link.receive(len(commands)), None
        except Broken as error:
            answers, broken = list(error.answers), error
        refused = self._settle(batch, before, answers)
        if broken is not None:
            raise broken
        return refused

    def _settle(
        self, batch: list[Pending], before: list[bool], answers: list[Any]
    ) -> Refusal | None:
        """Tell what was answered; the last refusal that nobody else can see to."""
        refused: Refusal | None = None
        kept: list[Pending] = []
        left = iter(answers)
        for pending, doubtful in zip(batch, before, strict=True):
            if pending.asking:
                next(left, None)
            answer = next(left, None)
            if answer is None:
                kept.append(pending)
            elif not isinstance(answer, Refusal):
                pending.settle(answer)
            elif not self._is_elsewhere(pending, answer, doubtful):
                refused = answer
                if doubtful or answer.code == _UNKNOWN_SCRIPT:
                    kept.append(pending)
                else:
                    pending.fail(Unavailable(f"the store refused: {answer.code}"))
        # What came meanwhile is behind what was sent.
        self._pending[: len(batch)] = kept
        return refused

    def _is_elsewhere(self, pending: Pending, refusal: Refusal, doubtful: bool) -> bool:
        # This sending changed nothing; an earlier one might still.
        pending.doubtful, pending.asking = doubtful, False
        return self._guide.redirect(pending, refusal)

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

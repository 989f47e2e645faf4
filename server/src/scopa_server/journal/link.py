"""A connection to a store as the layers above see it, and a few of them shared by many askers."""

import asyncio
import contextvars
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

import msgspec

from scopa_server.journal.interface import NotAdmitted, Unavailable
from scopa_server.journal.places import Address
from scopa_server.journal.scripts import Command


class Unreached(Exception):
    """There is no connection: nothing was sent."""


class TurnedAway(Unreached):
    """The store answers, but lets nobody in like this: the words for `NotAdmitted`."""


class Broken(Exception):
    """The connection was lost or silent: what was sent may have been done, or may yet be.

    `answers`: those that had been received.
    """

    def __init__(self, reason: str, answers: Sequence[Any] = ()) -> None:
        super().__init__(reason)
        self.answers = answers


def unavailable(error: Unreached | Broken | TimeoutError) -> Unavailable:
    """What those who asked the store hear of it."""
    told = NotAdmitted if isinstance(error, TurnedAway) else Unavailable
    return told(str(error) or "no answer in time")


class Refusal(msgspec.Struct, frozen=True):
    """An error as the answer: the command changed nothing. `code` is its first word.

    `slot` and `where`: what a node of a cluster doesn't serve, and who does (MOVED, ASK).
    """

    code: str
    slot: int = 0
    where: Address | None = None


class Refused(Unavailable):
    """The store answered with an error, so it is there but didn't do it."""


def unless_refused(answer: Any) -> Any:
    """The answer; raises `Refused` if it is an error."""
    if isinstance(answer, Refusal):
        raise Refused(f"the store refused: {answer.code}")
    return answer


class Link(Protocol):
    """One connection. Answers come in the order of what was sent."""

    async def open(self) -> None:
        """Be connected with nothing left to receive; raises `Unreached`."""
        ...

    async def send(self, commands: Sequence[Command]) -> None:
        """Send in one go; raises `Broken`."""
        ...

    async def receive(self, count: int) -> list[Any]:
        """Return the next answers, a `Refusal` for an error; raises `Broken`."""
        ...

    async def listen(self, seconds: float) -> Any:
        """Return the next message, None if there is none in that time; raises `Broken`."""
        ...

    async def drop(self) -> None:
        """Disconnect; `open` connects again."""
        ...


class Links:
    """At most `limit` connections, each lent to one asker at a time."""

    def __init__(self, make: Callable[[], Link], limit: int) -> None:
        self._make = make
        self._turns = asyncio.Semaphore(limit)
        self._idle: list[Link] = []
        self._closed = False

    async def ask(self, commands: Sequence[Command]) -> list[Any]:
        """Send what is safe to send twice and return the answers; raises `Unavailable`, and
        `Refused` if one answer is an error.
        """
        return [unless_refused(answer) for answer in await self.exchange(commands)]

    async def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """The same, with a `Refusal` for each answer that is an error."""
        try:
            return await self._ask_once(commands)
        except Broken:
            # What broke it broke the others that wait for their next use, or may have.
            await self._drop_idle()
        try:
            return await self._ask_once(commands)
        except Broken as error:
            raise Unavailable(str(error)) from error

    async def _ask_once(self, commands: Sequence[Command]) -> list[Any]:
        async with self._borrow() as link:
            await link.send(commands)
            answers = await link.receive(len(commands))
            if any(isinstance(answer, Refusal) and answer.code == "READONLY" for answer in answers):
                await link.drop()  # no master any more: whoever connects anew may find the new one
            return answers

    @asynccontextmanager
    async def _borrow(self) -> AsyncGenerator[Link, None]:
        async with self._turns:
            if self._closed:
                raise Unavailable("the journal is closed")
            link = self._idle.pop() if self._idle else self._make()
            try:
                await link.open()
                yield link
            except Unreached as error:
                await link.drop()
                raise unavailable(error) from error
            except BaseException:
                await link.drop()
                raise
            await self._return(link)

    async def _return(self, link: Link) -> None:
        if self._closed:
            await link.drop()
        else:
            self._idle.append(link)

    async def close(self) -> None:
        """Disconnect what is idle now, and the others as they are given back."""
        self._closed = True
        await self._drop_idle()

    async def _drop_idle(self) -> None:
        while self._idle:
            await self._idle.pop().drop()


def background(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """A task that serves everybody: what it logs names none of those who needed it first."""
    return asyncio.create_task(work, name=name, context=contextvars.Context())


async def end(task: asyncio.Task[None] | None) -> None:
    """Cancel a task until it has ended; a library on its way may swallow a cancellation."""
    while task is not None and not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=0.1)

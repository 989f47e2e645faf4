"""A connection to a store as the layers above see it, and a few of them shared by many askers."""

import asyncio
import contextvars
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

import msgspec

from scopa_server.journal.interface import NotAdmitted, Unavailable
from scopa_server.journal.places import Address
from scopa_server.journal.scripts import Command

ASKED_AT_ONCE: Final = 200
"""Commands that hold no server up."""


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


class _Question:
    """Commands that somebody waits to have answered, together and in order."""

    def __init__(self, commands: Sequence[Command], waiting: "asyncio.Future[list[Any]]") -> None:
        self.commands = commands
        self._waiting = waiting

    @property
    def is_over(self) -> bool:
        """Whether it was answered, or nobody waits any more."""
        return self._waiting.done()

    def settle(self, answers: list[Any]) -> None:
        """Give the answers."""
        if not self._waiting.done():
            self._waiting.set_result(answers)

    def fail(self, error: Exception) -> None:
        """Say why there are none."""
        if not self._waiting.done():
            self._waiting.set_exception(error)


class Links:
    """At most `limit` connections. What waits at the same moment goes out together over one.

    So nobody waits for as many round trips as there are others who ask.
    """

    def __init__(self, make: Callable[[], Link], limit: int) -> None:
        self._make = make
        self._limit = limit
        self._waiting: deque[_Question] = deque()
        self._idle: list[Link] = []
        self._askers: set[asyncio.Task[None]] = set()
        self._called = False
        self._closed = False

    async def ask(self, commands: Sequence[Command]) -> list[Any]:
        """Send what is safe to send twice and return the answers; raises `Unavailable`, and
        `Refused` if one answer is an error.
        """
        return [unless_refused(answer) for answer in await self.exchange(commands)]

    async def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """The same, with a `Refusal` for each answer that is an error."""
        if self._closed:
            raise Unavailable("the journal is closed")
        waiting: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Question(commands, waiting))
        self._call()
        return await waiting

    def _call(self) -> None:
        if self._waiting and not self._called and len(self._askers) < self._limit:
            # It begins when all who ask in this round of the loop have asked.
            self._called = True
            task = background(self._serve(), "journal-asker")
            self._askers.add(task)
            task.add_done_callback(self._served)

    def _served(self, task: asyncio.Task[None]) -> None:
        self._askers.discard(task)
        self._called = False  # one that was cancelled may never have begun
        self._call()  # for who asked after it had looked for the last time

    async def _serve(self) -> None:
        self._called = False
        while self._waiting:
            questions = self._next()
            try:
                await self._see_to(questions)
            except Exception as error:
                _fail(questions, error)
            except BaseException:
                _fail(questions, Unavailable("the journal is closed"))
                raise

    def _next(self) -> list[_Question]:
        """What goes out together: so much that nobody holds a server up."""
        questions: list[_Question] = []
        count = 0
        while self._waiting and count < ASKED_AT_ONCE:
            question = self._waiting.popleft()
            if not question.is_over:
                questions.append(question)
                count += len(question.commands)
        return questions

    async def _see_to(self, questions: Sequence[_Question]) -> None:
        try:
            await self._ask_once(questions)
        except Broken:
            # What broke it broke the others that wait for their next use, or may have.
            await self._drop_idle()
        else:
            return
        try:
            await self._ask_once([question for question in questions if not question.is_over])
        except Broken as error:
            raise Unavailable(str(error)) from error

    async def _ask_once(self, questions: Sequence[_Question]) -> None:
        commands = [command for question in questions for command in question.commands]
        if not commands:
            return
        async with self._borrow() as link:
            await link.send(commands)
            try:
                answers = await link.receive(len(commands))
            except Broken as error:
                _settle(questions, error.answers)
                raise
            _settle(questions, answers)
            if any(isinstance(answer, Refusal) and answer.code == "READONLY" for answer in answers):
                await link.drop()  # no master any more: whoever connects anew may find the new one

    @asynccontextmanager
    async def _borrow(self) -> AsyncGenerator[Link, None]:
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


def _fail(questions: Sequence[_Question], error: Exception) -> None:
    for question in questions:
        question.fail(error)


def _settle(questions: Sequence[_Question], answers: Sequence[Any]) -> None:
    """Give each question its answers, as far as they have come."""
    given = 0
    for question in questions:
        share = answers[given : given + len(question.commands)]
        given += len(question.commands)
        if given > len(answers):
            return
        question.settle(list(share))


def background(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """A task that serves everybody: what it logs names none of those who needed it first."""
    return asyncio.create_task(work, name=name, context=contextvars.Context())


async def end(task: asyncio.Task[None] | None) -> None:
    """Cancel a task until it has ended; a library on its way may swallow a cancellation."""
    while task is not None and not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=0.1)

"""One server of a store, and a store that is only one: all that is asked of it, and how."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from scopa_server.journal.ear import Ear
from scopa_server.journal.hints import Hints, L
from scopa_server.journal.interface import Stored, Taken
from scopa_server.journal.link import ASKED_AT_ONCE, Link, Links, Refusal, unless_refused
from scopa_server.journal.news import News
from scopa_server.journal.resend import Resender, Sleep
from scopa_server.journal.scripts import Command, listeners

MakeLink = Callable[[], Link]
_CONNECTIONS = 8


class Node:
    """A server: its writer, its ear, and a few connections for everything else."""

    def __init__(self, make: MakeLink, appends: Resender, ear: Ear) -> None:
        self.appends = appends
        self.ear = ear
        self.links = Links(make, _CONNECTIONS)

    @property
    def idle(self) -> bool:
        """Whether nobody needs it."""
        return self.appends.idle and not self.ear.rooms

    async def close(self, grace: float) -> None:
        """Wait that long for its appends, then disconnect."""
        await self.appends.close(grace)
        await self.ear.close()
        await self.links.close()


class Servers(Protocol):
    """All servers of a store. Every call but `listen` may raise `Unavailable`."""

    @property
    def batches(self) -> int:
        """How many pipelines of appends went out so far."""
        ...

    @property
    def hints(self) -> Hints:
        """Who listens here."""
        ...

    def ear_of(self, room: str) -> str:
        """The channel by which the server that appends to a room can tell that this process
        listens to the room there; empty if it can't.
        """
        ...

    def append(self, room: str, command: Command) -> "asyncio.Future[Stored | Taken]":
        """Send an append until its answer is known."""
        ...

    async def ask(self, room: str, command: Command) -> Any:
        """Ask something of a room that is safe to ask twice; also raises `Refused`."""
        ...

    async def ask_each(self, commands: Mapping[str, Command]) -> dict[str, Any]:
        """Ask of many rooms at once; those are left out of which nothing can be said."""
        ...

    async def each(self) -> Sequence[Links]:
        """Every server that has rooms."""
        ...

    def listen(self, room: str, listener: L) -> AbstractAsyncContextManager[L]:
        """Let somebody hear of a room."""
        ...

    async def close(self, grace: float) -> None:
        """Wait that long for appends, then disconnect."""
        ...


class Alone:
    """A store that is one server, wherever that is at the moment.

    `make_writer` makes the link for appends.
    """

    def __init__(self, make: MakeLink, make_writer: MakeLink, sleep: Sleep) -> None:
        self._news = News(self._ear)
        ear = Ear(make(), sleep, self._news.hints, seen=self._is_heard)
        self._node = Node(make, Resender(make_writer(), sleep), ear)

    @property
    def batches(self) -> int:
        """How many pipelines of appends went out so far."""
        return self._node.appends.batches

    @property
    def hints(self) -> Hints:
        """Who listens here."""
        return self._news.hints

    def ear_of(self, room: str) -> str:
        """The ear's own channel if the server has confirmed the room."""
        ear = self._node.ear
        return ear.channel if ear.hears(room) else ""

    def append(self, room: str, command: Command) -> "asyncio.Future[Stored | Taken]":
        """Send an append until its answer is known."""
        return self._node.appends.submit(room, command)

    async def ask(self, room: str, command: Command) -> Any:
        """Ask something that is safe to ask twice."""
        return (await self._node.links.ask([command]))[0]

    async def ask_each(self, commands: Mapping[str, Command]) -> dict[str, Any]:
        """Ask of many rooms at once."""
        answers = [
            answer
            for some in chunks(list(commands.values()))
            for answer in await self._node.links.exchange(some)
        ]
        found = dict(zip(commands, answers, strict=True))
        sound = {room: each for room, each in found.items() if not isinstance(each, Refusal)}
        if found and not sound:
            unless_refused(answers[0])
        return sound

    async def each(self) -> Sequence[Links]:
        """The one."""
        return [self._node.links]

    def listen(self, room: str, listener: L) -> AbstractAsyncContextManager[L]:
        """Let somebody hear of a room."""
        return self._news.listen(room, listener)

    async def close(self, grace: float) -> None:
        """Wait that long for appends, then disconnect."""
        await self._node.close(grace)
        self._news.close()

    async def _is_heard(self, name: str) -> bool:
        """Whether the server that is asked at the moment has anybody at a channel."""
        answer = (await self._node.links.ask([listeners(name)]))[0]
        return bool(answer[1])

    async def _ear(self, room: str) -> Ear:
        return self._node.ear


def chunks(commands: Sequence[Command]) -> list[Sequence[Command]]:
    """Cut into pieces that don't hold a server up."""
    starts = range(0, len(commands), ASKED_AT_ONCE)
    return [commands[start : start + ASKED_AT_ONCE] for start in starts]

"""Hints over a connection of their own: subscribed, confirmed, and subscribed again when lost."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog

from scopa_server.journal.hints import Hint, Hints
from scopa_server.journal.interface import LOOK, Unavailable
from scopa_server.journal.link import Broken, Link, Refusal, Unreached, end
from scopa_server.journal.resend import Sleep
from scopa_server.journal.scripts import Command, channel, room_of

_CONFIRMED_WITHIN = 5.0
_SILENCE = 15.0
_DELAY = 0.5

_log = structlog.get_logger(__name__)


class News:
    """Listens for all watchers of this process."""

    def __init__(self, link: Link, sleep: Sleep) -> None:
        self._link = link
        self._sleep = sleep
        self._hints = Hints()
        self._wanted: dict[str, asyncio.Event] = {}
        self._confirmed: set[str] = set()
        self._up = False
        self._sending = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._trouble = "the store doesn't confirm subscriptions"

    @asynccontextmanager
    async def watch(self, room: str) -> AsyncGenerator[AsyncIterator[int], None]:
        """Hear of a room's commits; entering waits for the store's confirmation."""
        name = channel(room)
        hint = self._hints.add(room)
        try:
            await self._subscribe(room, name)
            hint.give(LOOK)
            yield hint
        finally:
            await self._forget(room, name, hint)

    async def _subscribe(self, room: str, name: str) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="journal-news")
        if room not in self._wanted:
            self._wanted[room] = asyncio.Event()
            await self._say(("SSUBSCRIBE", name))
        settled = self._wanted[room]
        with suppress(TimeoutError):
            async with asyncio.timeout(_CONFIRMED_WITHIN):
                await settled.wait()
        if room not in self._confirmed:
            raise Unavailable(self._trouble)

    async def _forget(self, room: str, name: str, hint: Hint) -> None:
        if self._hints.remove(room, hint):
            self._wanted.pop(room, None)
            self._confirmed.discard(room)
            await self._say(("SUNSUBSCRIBE", name))

    async def _say(self, command: Command) -> None:
        if not self._up:
            return  # connecting subscribes to all that is wanted
        async with self._sending:
            # A failure shows in the listening task, which connects anew.
            with suppress(Broken):
                await self._link.send([command])

    async def close(self) -> None:
        """Stop listening and let the watchers' loops end."""
        await end(self._task)
        self._lose()
        self._hints.end()
        await self._link.drop()

    async def _run(self) -> None:
        while True:
            try:
                await self._link.open()
                await self._resubscribe()
                await self._listen()
            except (Unreached, Broken) as error:
                self._trouble = str(error)
                if self._up:  # else it has been said
                    _log.warning("journal_news_lost", reason=self._trouble)
            self._lose()
            await self._link.drop()
            await self._sleep(_DELAY)

    async def _resubscribe(self) -> None:
        self._up = True
        async with self._sending:
            wanted = [("SSUBSCRIBE", channel(room)) for room in self._wanted]
            await self._link.send([*wanted, ("PING",)])

    def _lose(self) -> None:
        self._up = False
        self._confirmed.clear()
        for room, settled in self._wanted.items():
            self._wanted[room] = asyncio.Event()
            settled.set()

    async def _listen(self) -> None:
        quiet = False
        while True:
            message = await self._link.listen(_SILENCE)
            if message is not None:
                quiet = False
                self._hear(message)
            elif quiet:
                raise Broken("the store has gone silent")
            else:
                quiet = True
                await self._say(("PING",))

    def _hear(self, message: Any) -> None:
        if isinstance(message, Refusal):
            raise Broken(f"the store refused: {message.code}")
        match message:
            case [b"ssubscribe", bytes(name), _]:
                self._confirm(room_of(name.decode()))
            case [b"smessage", bytes(name), bytes(number)]:
                self._hints.give(room_of(name.decode()), int(number))
            case _:
                pass

    def _confirm(self, room: str) -> None:
        if room in self._wanted:
            self._confirmed.add(room)
            self._wanted[room].set()
            self._hints.give(room, LOOK)

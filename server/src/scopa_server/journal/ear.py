"""What one server tells of new commits: subscribed, confirmed, and subscribed again when lost."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any, Final, Protocol

import structlog

from scopa_server.journal.hints import EVERYBODY, Hints
from scopa_server.journal.interface import LOOK, Unavailable
from scopa_server.journal.link import Broken, Link, Refusal, Unreached, background, end
from scopa_server.journal.resend import Sleep
from scopa_server.journal.scripts import Command, channel, room_of, slot_of

_CONFIRMED_WITHIN = 5.0
_SILENCE = 15.0
_DELAY = 0.5
_LOOK_EVERY = 15.0

Seen = Callable[[str], Awaitable[bool]]
"""Whether anybody is subscribed to a channel at the server that is asked for rooms."""

_log = structlog.get_logger(__name__)


class Usher(Protocol):
    """Knows which ear of a cluster a room is for."""

    def learn(self, refusal: Refusal) -> bool:
        """Learn who has the slot that was refused; false if the refusal says nothing of it."""
        ...

    async def look_again(self) -> None:
        """Find out anew which node has what, if that can be found out."""
        ...

    async def rehome(self, ear: "Ear") -> None:
        """Give the rooms to their ears that this one isn't for."""
        ...


class NoUsher:
    """There is only one node."""

    def learn(self, refusal: Refusal) -> bool:
        """Nobody else could have it."""
        return False

    async def look_again(self) -> None:
        """Nothing changes."""

    async def rehome(self, ear: "Ear") -> None:
        """No room is for another."""


_NO_USHER: Final = NoUsher()


class Ear:
    """Listens to one server, over a connection of its own.

    `seen`: by a channel of its own the server can tell it from others. Behind a name or a proxy
    there may be another server by now, and this one only its replica.
    """

    def __init__(
        self,
        link: Link,
        sleep: Sleep,
        hints: Hints,
        usher: Usher = _NO_USHER,
        *,
        seen: Seen | None = None,
    ) -> None:
        self._link = link
        self._sleep = sleep
        self._hints = hints
        self._usher = usher
        self._seen = seen
        self._looking: asyncio.Task[None] | None = None
        self._wanted: dict[str, asyncio.Event] = {}
        self._confirmed: set[str] = set()
        self._leaving: set[str] = set()
        self._up = False
        self._sending = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._trouble = "the store doesn't confirm subscriptions"
        self.channel = ""
        """What only the present connection is subscribed to, after all that was wanted."""

    @property
    def rooms(self) -> list[str]:
        """The rooms listened to."""
        return list(self._wanted)

    def hears(self, room: str) -> bool:
        """Whether the store has confirmed a room."""
        return room in self._confirmed

    async def want(self, room: str) -> None:
        """Listen to a room from now on."""
        if self._task is None:
            self._task = background(self._run(), "journal-news")
        if room not in self._wanted:
            self._wanted[room] = asyncio.Event()
            await self._say(("SSUBSCRIBE", channel(room)))

    async def confirmed(self, room: str) -> bool:
        """Wait until the store has confirmed; false if the room is for another ear by now.

        Raises `Unavailable`.
        """
        settled = self._wanted.get(room)
        if settled is None:
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(_CONFIRMED_WITHIN):
                await settled.wait()
        if room in self._confirmed:
            return True
        if room not in self._wanted:
            return False
        raise Unavailable(self._trouble)

    async def forget(self, room: str) -> None:
        """Listen to a room no longer."""
        settled = self._wanted.pop(room, None)
        self._confirmed.discard(room)
        if settled is not None:
            settled.set()
            if self._up:
                self._leaving.add(room)
            await self._say(("SUNSUBSCRIBE", channel(room)))

    async def close(self) -> None:
        """Listen no more."""
        await end(self._task)
        await end(self._looking)
        self._lose()
        await self._link.drop()

    async def _say(self, command: Command) -> None:
        if not self._up:
            return  # connecting subscribes to all that is wanted
        async with self._sending:
            # A failure shows in the listening task, which connects anew.
            with suppress(Broken):
                await self._link.send([command])

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
            except Exception:
                # A task that ended would leave all rooms unheard for good.
                _log.exception("journal_news_fault")
            self._lose()
            await self._link.drop()
            await self._usher.look_again()
            await self._usher.rehome(self)
            if not self._wanted:
                self._task = None
                return
            await self._sleep(_DELAY)

    async def _resubscribe(self) -> None:
        self._up = True
        async with self._sending:
            subscribed = [*map(channel, self._wanted)]
            if self._seen is not None:
                self.channel = channel(f"{EVERYBODY}-{secrets.token_hex(8)}")
                subscribed.append(self.channel)
            await self._link.send([*(("SSUBSCRIBE", each) for each in subscribed), ("PING",)])

    def _lose(self) -> None:
        self._up = False
        self._confirmed.clear()
        self._leaving.clear()
        for room, settled in self._wanted.items():
            self._wanted[room] = asyncio.Event()
            settled.set()

    async def _listen(self) -> None:
        quiet = False
        looked = monotonic()
        while True:
            if monotonic() - looked >= _LOOK_EVERY:
                looked = monotonic()
                self._look()
            message = await self._link.listen(_SILENCE)
            if message is not None:
                quiet = False
                await self._hear(message)
            elif quiet:
                raise Broken("the store has gone silent")
            else:
                quiet = True
                await self._say(("PING",))

    def _look(self) -> None:
        if self._seen is not None and (self._looking is None or self._looking.done()):
            self._looking = background(self._look_for(self.channel, self._seen), "journal-look")

    async def _look_for(self, name: str, seen: Seen) -> None:
        """Connect anew unless the server that is asked for rooms knows this connection."""
        with suppress(Unavailable):
            if not await seen(name) and self._up and name == self.channel:
                _log.warning("journal_news_astray")
                await self._link.drop()

    async def _hear(self, message: Any) -> None:
        match message:
            case [b"ssubscribe", bytes(name), _]:
                self._confirm(room_of(name.decode()))
            case [b"smessage", bytes(name), bytes(words)]:
                self._hints.hear(room_of(name.decode()), words)
            case [b"sunsubscribe", bytes(name), _]:
                await self._unsubscribed(room_of(name.decode()))
            case Refusal():
                if not self._usher.learn(message):
                    raise Broken(f"the store refused: {message.code}")
                await self._usher.rehome(self)
                if any(slot_of(room) == message.slot for room in self._wanted):
                    raise Broken("the store sends a room to and fro")
            case _:
                pass

    async def _unsubscribed(self, room: str) -> None:
        if room in self._leaving:
            self._leaving.discard(room)
        elif room in self._wanted:
            # The slot has left this node: asked again, it says where to.
            self._confirmed.discard(room)
            await self._say(("SSUBSCRIBE", channel(room)))

    def _confirm(self, room: str) -> None:
        if room in self._wanted:
            self._confirmed.add(room)
            self._wanted[room].set()
            self._hints.give(room, LOOK)

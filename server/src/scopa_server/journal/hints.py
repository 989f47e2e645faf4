"""What listeners haven't heard yet: of commits the newest alone, of words a bounded queue."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, Protocol, TypeVar

from scopa_server.journal.interface import LOOK

EVERYBODY: Final = "servers"
"""Stands for a room where all processes are meant; no room has such a code."""
DIGITS: Final = len(str(2**53))
"""How long a commit's number may be, as text."""
WORDS_KEPT: Final = 1000
"""Words that a listener may leave unread; of more the oldest are lost."""


class Listener(Protocol):
    """Who listens to one room."""

    def give(self, number: int) -> None:
        """Hear of a new commit, or that some may have been missed."""
        ...

    def hear(self, words: bytes) -> None:
        """Hear what was published."""
        ...

    def end(self) -> None:
        """Hear no more after what is still waiting."""
        ...


L = TypeVar("L", bound=Listener)


class Hint:
    """What one listener hasn't heard yet; an asynchronous iterator of hints."""

    def __init__(self) -> None:
        self._awaited: asyncio.Future[int] | None = None
        self._number: int | None = None
        self._ended = False

    def give(self, number: int) -> None:
        """Replace what is waiting to be heard; a waiting `LOOK` stays, it asks for more."""
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(number)
        elif self._number != LOOK:
            self._number = number

    def hear(self, words: bytes) -> None:
        """Take for a commit's number what is one."""
        # Anybody may publish: what isn't from here is a reason to look, no more.
        self.give(int(words) if words.isdigit() and len(words) <= DIGITS else LOOK)

    def end(self) -> None:
        """Let the listener's loop end after what is still waiting."""
        self._ended = True
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_exception(StopAsyncIteration())

    def __aiter__(self) -> "Hint":
        """Return itself."""
        return self

    def __anext__(self) -> "asyncio.Future[int]":
        """Wait for the next hint."""
        self._awaited = asyncio.get_running_loop().create_future()
        if self._number is not None:
            self._awaited.set_result(self._number)
            self._number = None
        elif self._ended:
            self._awaited.set_exception(StopAsyncIteration())
        return self._awaited


class Words:
    """What one listener hasn't read yet of what was published; an asynchronous iterator of it."""

    def __init__(self) -> None:
        self._news = asyncio.Event()
        self._unread: deque[bytes] = deque(maxlen=WORDS_KEPT)
        self._ended = False

    def give(self, number: int) -> None:
        """Heed no numbers: what was missed is gone."""

    def hear(self, words: bytes) -> None:
        """Keep words until they are read."""
        self._unread.append(words)
        self._news.set()

    def end(self) -> None:
        """Let the listener's loop end after what is still unread."""
        self._ended = True
        self._news.set()

    def __aiter__(self) -> "Words":
        """Return itself."""
        return self

    async def __anext__(self) -> bytes:
        """Wait for the next words."""
        while not self._unread:
            if self._ended:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._unread.popleft()


class Hints:
    """The listeners of this process, by room.

    They hear of this process's own commits from here. The store may tell of one before it answers
    who made it, and who follows the room would go and look for what is only on its way.
    """

    def __init__(self) -> None:
        self._listeners: dict[str, set[Listener]] = {}
        self._own: dict[str, int] = {}
        """The newest own commit, made or being made, of rooms that are listened to."""
        self._told: set[str] = set()
        """Rooms whose own commit, or another of that number, the store has told of meanwhile."""
        self._ended = False

    def add(self, room: str, listener: L) -> L:
        """Let somebody listen to a room."""
        if self._ended:
            listener.end()
        self._listeners.setdefault(room, set()).add(listener)
        return listener

    def remove(self, room: str, listener: Listener) -> bool:
        """Let somebody listen no more; return whether that was the room's last listener."""
        listeners = self._listeners[room]
        listeners.discard(listener)
        if not listeners:
            del self._listeners[room]
            self._own.pop(room, None)
            self._told.discard(room)
        return not listeners

    @asynccontextmanager
    async def listening(self, room: str, listener: L) -> AsyncGenerator[L, None]:
        """Let somebody listen to a room for as long as the context lasts."""
        self.add(room, listener)
        try:
            yield listener
        finally:
            self.remove(room, listener)

    def give(self, room: str, number: int) -> None:
        """Tell everybody who listens to the room."""
        for listener in self._listeners.get(room, ()):
            listener.give(number)

    def hear(self, room: str, words: bytes) -> None:
        """Pass on what was published, unless it is of an own commit."""
        own = self._own.get(room)
        if own is not None and words == b"%d" % own:
            self._told.add(room)
            return
        for listener in self._listeners.get(room, ()):
            listener.hear(words)

    def takes(self, room: str, number: int) -> bool:
        """Whether an own commit of that number is to be told of here: somebody listens to it."""
        return room in self._listeners and number > self._own.get(room, 0)

    def begin(self, room: str, number: int) -> None:
        """Heed the store's word of an own commit no longer."""
        self._own[room] = number
        self._told.discard(room)

    def settle(self, room: str, number: int, *, stored: bool) -> None:
        """Tell of it if it is stored; if not, only what the store told, which is of another."""
        if self._own.get(room) != number:
            return
        if not stored:
            del self._own[room]
        if stored or room in self._told:
            self.give(room, number)

    def end(self) -> None:
        """Let every listener's loop end, and those to come."""
        self._ended = True
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.end()

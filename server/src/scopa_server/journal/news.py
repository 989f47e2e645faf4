"""Hints for all watchers of this process, each room's from the server that has the room."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from scopa_server.journal.ear import Ear
from scopa_server.journal.hints import Hints, L
from scopa_server.journal.interface import LOOK, Unavailable

_MOVES = 5


class News:
    """Who listens to what. `ear_of` finds the ear for a room; it may raise `Unavailable`."""

    def __init__(self, ear_of: Callable[[str], Awaitable[Ear]]) -> None:
        self.hints = Hints()
        self._ear_of = ear_of
        self._ears: dict[str, Ear] = {}

    @asynccontextmanager
    async def listen(self, room: str, listener: L) -> AsyncGenerator[L, None]:
        """Let somebody hear of a room; entering waits for the store's confirmation."""
        self.hints.add(room, listener)
        try:
            await self._subscribe(room)
            listener.give(LOOK)
            yield listener
        finally:
            if self.hints.remove(room, listener) and room in self._ears:
                await self._ears.pop(room).forget(room)

    async def rehome(self, ear: Ear) -> None:
        """Give rooms to other ears that this one has and isn't for any more."""
        for room in ear.rooms:
            try:
                other = await self._ear_of(room)
            except Unavailable:
                continue
            if other is not ear and self._ears.get(room) is ear:
                self._ears[room] = other
                await other.want(room)
                await ear.forget(room)

    def close(self) -> None:
        """Let the watchers' loops end."""
        self.hints.end()

    async def _subscribe(self, room: str) -> None:
        for _ in range(_MOVES):
            ear = self._ears.get(room)
            if ear is None:
                ear = await self._ear_of(room)
                ear = self._ears.setdefault(room, ear)
            await ear.want(room)
            if await ear.confirmed(room):
                return
        raise Unavailable("the room is on its way from one server to another")

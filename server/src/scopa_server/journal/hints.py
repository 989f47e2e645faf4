"""Hints of new commits: a flag for each listener that holds the newest, never a growing queue."""

import asyncio

from scopa_server.journal.interface import LOOK


class Hint:
    """What one listener hasn't heard yet; an asynchronous iterator of hints."""

    def __init__(self) -> None:
        self._news = asyncio.Event()
        self._number: int | None = None
        self._ended = False

    def give(self, number: int) -> None:
        """Replace what is waiting to be heard; a waiting `LOOK` stays, it asks for more."""
        if self._number != LOOK:
            self._number = number
        self._news.set()

    def end(self) -> None:
        """Let the listener's loop end after what is still waiting."""
        self._ended = True
        self._news.set()

    def __aiter__(self) -> "Hint":
        """Return itself."""
        return self

    async def __anext__(self) -> int:
        """Wait for the next hint."""
        await self._news.wait()
        number, self._number = self._number, None
        if number is None:
            raise StopAsyncIteration
        if not self._ended:
            self._news.clear()
        return number


class Hints:
    """The listeners of this process, by room."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[Hint]] = {}
        self._ended = False

    def add(self, room: str) -> Hint:
        """Begin to listen to a room."""
        hint = Hint()
        if self._ended:
            hint.end()
        self._listeners.setdefault(room, set()).add(hint)
        return hint

    def remove(self, room: str, hint: Hint) -> bool:
        """Stop listening; return whether that was the room's last listener."""
        listeners = self._listeners[room]
        listeners.discard(hint)
        if not listeners:
            del self._listeners[room]
        return not listeners

    def give(self, room: str, number: int) -> None:
        """Tell everybody who listens to the room."""
        for hint in self._listeners.get(room, ()):
            hint.give(number)

    def end(self) -> None:
        """Let every listener's loop end, and those to come."""
        self._ended = True
        for listeners in self._listeners.values():
            for hint in listeners:
                hint.end()

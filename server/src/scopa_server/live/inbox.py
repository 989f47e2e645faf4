"""What waits for a room's task: messages, and one alarm for whatever is due next."""

import asyncio
from collections import deque
from collections.abc import Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from scopa_protocol import commands as c

from .ledger import Begun
from .time import Time, Timer
from .visitor import Visitor

COMMANDS: Final = 256
"""Messages in a room's inbox beyond which it takes no more commands.

Who comes and goes is always taken.
"""


class Ask(Struct, frozen=True):
    """A visitor's command; `passcode` is the hash of one it brings.

    `begun`: it was decided, and the store may have it.
    """

    visitor: Visitor
    command: c.Command
    passcode: str | None = None
    begun: Begun | None = None


class Enter(Struct, frozen=True):
    """A visitor wants in. `made`: the token, if the server made it."""

    visitor: Visitor
    command: c.Create | c.Join | c.Resume | c.Watch
    made: str | None
    done: asyncio.Future[bool]


class Gone(Struct, frozen=True):
    """A visitor's connection has ended."""

    visitor: Visitor


Message: TypeAlias = Ask | Enter | Gone


class Inbox:
    """Read by one task, which sleeps until there is something to do."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self.messages: deque[Message] = deque()
        """What waits, the oldest first."""
        self._loop = asyncio.get_running_loop()
        self._woken = False
        self._held = False
        self._sleeper: asyncio.Future[None] | None = None
        self._timer: Timer | None = None
        self._rings_at = 0.0

    def put(self, message: Message) -> None:
        """Leave a message."""
        self.messages.append(message)
        self.wake()

    def put_first(self, message: Message) -> None:
        """Leave a message that comes before those that are there."""
        self.messages.appendleft(message)
        self.wake()

    def take(self) -> Message | None:
        """The oldest message."""
        return self.messages.popleft() if self.messages else None

    def wake(self) -> None:
        """Let the task look around at once, or as soon as it is let."""
        self._woken = True
        if self._sleeper is not None and not self._held:
            self._rouse(self._sleeper)

    @property
    def sleeps(self) -> bool:
        """Whether the task has nothing to do."""
        return self._sleeper is not None and not (self._woken or self._held)

    def hold(self) -> None:
        """Keep the task, which sleeps, from waking: something is being done without it."""
        self._held = True

    def release(self) -> None:
        """That is done: let the task wake, if there is anything for it."""
        self._held = False
        if self._woken:
            self.wake()

    def wake_at(self, when: float) -> None:
        """Let the task look around then, or now if messages wait or the time has come.

        It may be woken sooner: an alarm that was set for an earlier moment stays.
        """
        if self.messages or when <= self._time.now():
            self.wake()
        elif self._timer is None or when < self._rings_at:
            self._call_off()
            self._timer, self._rings_at = self._time.call_at(when, self._ring), when

    async def wait(self) -> None:
        """Sleep until there is something to do."""
        if self._woken:
            # A room with much to do must leave the loop to the others now and then.
            await asyncio.sleep(0)
        else:
            self._sleeper = self._loop.create_future()
            try:
                await self._sleeper
            finally:
                self._sleeper = None
        self._woken = False

    def close(self) -> Iterator[Message]:
        """Call the alarm off; gives the messages that nobody will read."""
        self._call_off()
        while self.messages:
            yield self.messages.popleft()

    def _ring(self) -> None:
        self._timer = None
        self.wake()

    @staticmethod
    def _rouse(sleeper: "asyncio.Future[None]") -> None:
        if not sleeper.done():
            sleeper.set_result(None)

    def _call_off(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

"""Time as live rooms see it: monotonic, and injected so that tests move it by hand."""

import asyncio
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A call that was arranged, and can be called off."""

    def cancel(self) -> None:
        """Call it off."""


class Time(Protocol):
    """A monotonic clock in seconds."""

    def now(self) -> float:
        """Seconds since some moment in the past."""
        ...

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Arrange a call at `when`."""
        ...


class LoopTime:
    """The clock of the event loop that runs when it is made."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.now = self._loop.time
        """Seconds since some moment in the past."""

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Arrange a call at `when`."""
        return self._loop.call_at(when, callback)

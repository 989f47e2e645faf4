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
    """The running event loop's clock."""

    def now(self) -> float:
        """Seconds since some moment in the past."""
        return asyncio.get_running_loop().time()

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Arrange a call at `when`."""
        return asyncio.get_running_loop().call_at(when, callback)

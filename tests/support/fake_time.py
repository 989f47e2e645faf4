"""Time that tests move by hand."""

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count


class FakeTimer:
    """A call that was arranged."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        """Call it off."""
        self.callback = None


CREEP = 1e-7
"""Seconds that pass between two looks at the clock, as they do between two looks at a real one."""


class FakeTime:
    """A clock that all but stands still until it is moved."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._order = count()
        self._timers: list[tuple[float, int, FakeTimer]] = []

    def now(self) -> float:
        """Seconds."""
        self._now += CREEP
        return self._now

    def call_at(self, when: float, callback: Callable[[], None]) -> FakeTimer:
        """Arrange a call."""
        timer = FakeTimer(callback)
        heappush(self._timers, (when, next(self._order), timer))
        return timer

    def advance(self, seconds: float) -> None:
        """Let time pass at once; calls that come due are made in order."""
        until = self._now + seconds
        while self._timers and self._timers[0][0] <= until:
            when, _, timer = heappop(self._timers)
            self._now = max(self._now, when)
            if timer.callback is not None:
                timer.callback()
        self._now = until

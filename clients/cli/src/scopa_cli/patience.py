"""How long a server may owe an answer before it is taken for lost."""

import asyncio
from collections.abc import Callable


class Patience:
    """Runs out once, so many seconds after it was started, unless it is ended."""

    def __init__(self, seconds: float, out: Callable[[], None]) -> None:
        self._seconds = seconds
        self._out = out
        self._alarm: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to wait; a wait that goes on isn't made longer."""
        if self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(self._seconds, self._out)

    def end(self) -> None:
        """Nothing is owed any more."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

"""How long a connection may stay that enters no room."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_server.live.time import Time, Timer
from scopa_server.live.visitor import Visitor
from scopa_server.room.refused import Refused

LONGEST: Final = 12
"""How many times as long it may stay that looks at rooms and never enters one."""
NOT_ITS_FAULT: Final = frozenset(
    {ErrorCode.STORAGE_UNAVAILABLE, ErrorCode.RESTARTING, ErrorCode.INTERNAL_ERROR}
)
"""Refusals that say nothing of who was refused: whoever waits for the server isn't idle."""


class Idling:
    """Tells when a connection has done nothing for `seconds` that went well.

    A look that is answered gives it as long again, though not for ever; what is refused doesn't.
    """

    def __init__(
        self, visitor: Visitor, time: Time, seconds: float, tire: Callable[[], None]
    ) -> None:
        self._visitor = visitor
        self._time = time
        self._seconds = seconds
        self._tire = tire
        self._timer: Timer | None = None
        self._until = time.now() + seconds
        self._last = time.now() + LONGEST * seconds
        self._visits = False

    def go_on(self) -> None:
        """Count from now."""
        self._count_until(min(self._time.now() + self._seconds, self._last))

    def resume(self, idle: float, stays: float) -> None:
        """Count on from what was `left` elsewhere."""
        now = self._time.now()
        self._last = now + stays
        self._count_until(now + idle)

    @property
    def left(self) -> tuple[float, float]:
        """Seconds until it has idled for too long, and until nothing gives it more."""
        now = self._time.now()
        return self._until - now, self._last - now

    def _count_until(self, moment: float) -> None:
        self.stop()
        self._until = moment
        self._timer = self._time.call_at(moment, self._ring)

    def stop(self) -> None:
        """Count no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @contextmanager
    def visit(self, command: c.ClientCommand) -> Generator[None]:
        """While a room is looked at or entered, nobody idles; then it hangs on how that went."""
        self._visits, self._visitor.refused = True, None
        try:
            yield
        except Refused as refusal:
            self._visitor.refused = refusal.code
            raise
        finally:
            self._visits = False
            refused = self._visitor.refused
            if refused in NOT_ITS_FAULT or (refused is None and isinstance(command, c.Look)):
                self.go_on()
            elif self._timer is None:
                # Once the refusal is sent.
                self._timer = self._time.call_at(self._time.now(), self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._visitor.room is None and not self._visits:
            self._tire()

"""The server with a wall clock that signals step; rooms that nobody is in go within a moment.

SIGUSR1 moves the clock an hour on, SIGUSR2 an hour back. Only what asks Python's `time` sees it.
With `--hurried` it has less patience with a store that doesn't answer.
"""

import signal
import sys
import time
from functools import partial
from typing import Final

HOUR_NS: Final = 3600 * 10**9
LINGER_SECONDS: Final = 0.2
HURRIED: Final = "--hurried"


class Clock:
    """A wall clock that can be wrong."""

    def __init__(self) -> None:
        self._true = time.time_ns
        self._ahead = 0

    def time_ns(self) -> int:
        """What `time.time_ns` says."""
        return self._true() + self._ahead

    def time(self) -> float:
        """What `time.time` says."""
        return self.time_ns() / 10**9

    def step(self, number: int, _: object) -> None:
        """Take the step that a signal asks for."""
        self._ahead += HOUR_NS if number == signal.SIGUSR1 else -HOUR_NS


def main() -> int:
    """Serve."""
    clock = Clock()
    vars(time).update(time_ns=clock.time_ns, time=clock.time)
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, clock.step)
    from scopa_server import app
    from scopa_server.__main__ import main as serve
    from scopa_server.live.surroundings import Surroundings

    if HURRIED in sys.argv:
        from scopa_server.journal import redis
        from scopa_server.live import following

        sys.argv.remove(HURRIED)
        vars(redis).update(_CONNECT_SECONDS=1.5, _ANSWER_SECONDS=1.5)
        vars(following).update(ALONE_SECONDS=3)
    vars(app).update(Surroundings=partial(Surroundings, linger_seconds=LINGER_SECONDS))
    return serve()


if __name__ == "__main__":
    sys.exit(main())

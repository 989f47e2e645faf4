"""Log lines on their way out: a thread writes them, so that a slow reader holds up nobody."""

import contextlib
import os
import select
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, TextIO

_LIMIT: Final = 10_000
_LAST_SECONDS: Final = 2.0


class Lines:
    """Lines to a stream, in order. Beyond `limit` waiting they are dropped, counted and said so."""

    def __init__(self, stream: TextIO, lost: Callable[[int], str], limit: int = _LIMIT) -> None:
        self._write = _writer(stream)
        self._lost = lost
        self._limit = limit
        self._waiting: deque[str] = deque()
        self._dropped = 0
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def write(self, line: str) -> None:
        """Put a line into the queue; it never waits and never raises."""
        with self._changed:
            if len(self._waiting) >= self._limit:
                self._dropped += 1
            else:
                self._waiting.append(line)
            self._changed.notify()

    debug = info = warning = error = critical = write

    def close(self, seconds: float = _LAST_SECONDS) -> None:
        """Write what waits, but for a reader that has stopped reading give up after a time."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(seconds)

    def _run(self) -> None:
        while batch := self._next():
            # The reader may be gone, or the disk full: there is nobody left to tell.
            with contextlib.suppress(Exception):
                self._write("".join(f"{line}\n" for line in batch))

    def _next(self) -> list[str]:
        """Every line that waits, once there is one; none after the last."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            batch = list(self._waiting)
            self._waiting.clear()
            if self._dropped:
                batch.append(self._lost(self._dropped))
                self._dropped = 0
            return batch


def _writer(stream: TextIO) -> Callable[[str], object]:
    """Write past the stream's own lock: a thread stuck with it would abort Python's exit."""
    try:
        handle = stream.fileno()
    except (OSError, ValueError):
        return stream.write
    stream.flush()

    def write(text: str) -> None:
        data = text.encode(stream.encoding, "backslashreplace")
        done = 0
        while done < len(data):
            done += os.write(handle, data[done : _line_end(data, done)])

    return write


def _line_end(data: bytes, begin: int) -> int:
    """The end of the lines that a pipe takes in one go: other workers' may come between them."""
    most = begin + select.PIPE_BUF
    if most >= len(data):
        return len(data)
    end = data.rfind(b"\n", begin, most) + 1 or data.find(b"\n", begin) + 1
    return end or len(data)

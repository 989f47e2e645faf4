"""What is written in one turn of the event loop, handed to the system together at its end.

A line's write costs the system as much as a room takes to decide a card, and least if one comes
right after the other: neither has to find its way back into the processor's caches each time, and
who reads on this machine, a proxy say, is woken once.
"""

import asyncio
import contextvars
from typing import Final

import structlog

log = structlog.stdlib.get_logger()

MOST: Final = 64
"""Frames that wait at most: more than that would leave the caches before they are sent."""


class Posting:
    """Frames that wait for the end of the loop's turn, in the order they came."""

    def __init__(self) -> None:
        self._waiting: list[tuple[asyncio.WriteTransport, bytes]] = []

    def put(self, line: asyncio.WriteTransport, frame: bytes) -> None:
        """Write a frame to a line, soon."""
        waiting = self._waiting
        if not waiting:
            asyncio.get_running_loop().call_soon(self.flush)
        waiting.append((line, frame))
        if len(waiting) >= MOST:
            self.flush()

    def flush(self) -> None:
        """Write what waits, now: before anything is written or asked of a line in another way."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        for line, frame in waiting:
            if not line.is_closing():
                try:
                    line.write(frame)
                except Exception:
                    self._give_up(line)

    @staticmethod
    def _give_up(line: asyncio.WriteTransport) -> None:
        """End a line: what it does must not keep the others' frames from them."""
        # Nor is it about the room or the line by whose turn they are written.
        name = str(getattr(line.get_protocol(), "id", None))[:8]
        contextvars.Context().run(log.exception, "writer_fault", connection=name)
        line.abort()

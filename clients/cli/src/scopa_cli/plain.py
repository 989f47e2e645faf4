"""The console for pipes, dumb terminals and screen readers: lines out, lines in, nothing else."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterable
from typing import Final

from .lines import Line, line
from .output import Writer

CHUNK: Final = 65536


class PlainConsole:
    """Writes lines as they come and reads lines from a file descriptor."""

    fancy = False

    def __init__(self, writer: Writer, source: int = 0) -> None:
        self._writer = writer
        self._source = source
        self._asked = ""
        self._stopped = False

    def show(self, lines: Iterable[Line]) -> None:
        """Write lines."""
        self._writer.lines(lines)

    def prompt(self, text: str, ask: str, *, hidden: bool = False) -> None:
        """Say what is asked for, once for each new question."""
        if ask and ask != self._asked:
            self.show([line(ask)])
        self._asked = ask

    def start(self, on_line: Callable[[str], None], on_end: Callable[[], None]) -> None:
        """Read in a thread: not every file and pipe can be waited for otherwise."""
        loop = asyncio.get_running_loop()
        reader = LineReader(self._source, loop, on_line, on_end)
        threading.Thread(target=reader.run, name="stdin", daemon=True).start()

    def stop(self) -> None:
        """Nothing was changed, so nothing is to be undone."""


class LineReader:
    """Reads a file descriptor in a thread and hands its lines to a loop."""

    def __init__(
        self,
        source: int,
        loop: asyncio.AbstractEventLoop,
        on_line: Callable[[str], None],
        on_end: Callable[[], None],
    ) -> None:
        self._source = source
        self._loop = loop
        self._on_line = on_line
        self._on_end = on_end

    def run(self) -> None:
        """Read to the end."""
        rest = b""
        # os.read, not a buffered file: a daemon thread must hold no lock when the program ends.
        while data := self._read():
            *whole, rest = (rest + data).split(b"\n")
            for entered in whole:
                if not self._hand(self._on_line, _text(entered)):
                    return
        if rest:
            self._hand(self._on_line, _text(rest))
        self._hand(self._on_end)

    def _read(self) -> bytes:
        try:
            return os.read(self._source, CHUNK)
        except OSError:
            return b""

    def _hand(self, call: Callable[..., None], *values: str) -> bool:
        try:
            self._loop.call_soon_threadsafe(call, *values)
        except RuntimeError:
            return False
        return True


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").rstrip("\r")

"""The client as a program on a terminal of its own."""

import asyncio
import fcntl
import os
import pty
import struct
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from support.screen import Screen

PATIENCE: Final = 60.0
# The terminal has to be the program's own, so that Ctrl-C and a resize reach it.
OWN_TERMINAL: Final = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    # A Python in a C locale sets this for its children; a shell doesn't.
    "os.environ.pop('LC_CTYPE', None); "
    "os.execv(sys.executable, [sys.executable, '-m', 'scopa_cli', *sys.argv[1:]])"
)


class PtyRun:
    """A running client, its terminal, and what can be seen there."""

    def __init__(self, columns: int = 80) -> None:
        self.screen = Screen(columns)
        self._master, self.slave = pty.openpty()
        self._changed = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._set_size(columns)

    def modes(self) -> list[Any]:
        """The terminal's settings."""
        return termios.tcgetattr(self.slave)

    async def start(self, *words: str, **environment: str) -> None:
        """Start the client."""
        keep = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        paths = os.pathsep.join([path for path in sys.path if path])
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            OWN_TERMINAL,
            *words,
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            env={**keep, "PYTHONPATH": paths, "TERM": "xterm", **environment},
        )
        asyncio.get_running_loop().add_reader(self._master, self._read)

    def _read(self) -> None:
        with suppress(OSError):
            self.screen.feed(os.read(self._master, 65536).decode("utf-8", "replace"))
        self._changed.set()

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def signal(self, number: int) -> None:
        """Send the program a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    async def stopped(self) -> None:
        """Wait until the program is stopped, as Ctrl-Z stops one."""
        assert self._process is not None
        options = os.WSTOPPED | os.WNOWAIT
        async with asyncio.timeout(PATIENCE):
            await asyncio.to_thread(os.waitid, os.P_PID, self._process.pid, options)

    def resize(self, columns: int) -> None:
        """Change the terminal's width."""
        self.screen.columns = columns
        self._set_size(columns)

    def _set_size(self, columns: int) -> None:
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    async def until(self, holds: Callable[[Screen], bool]) -> None:
        """Wait for something to be seen."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not holds(self.screen):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"never seen; the screen:\n{self.screen.text}") from None

    async def sees(self, piece: str) -> None:
        """Wait for a text on the screen."""
        await self.until(lambda screen: piece in screen.text)

    async def at_prompt(self, row: str) -> None:
        """Wait for the row of the cursor to be this."""
        await self.until(lambda screen: screen.last == row)

    async def ended(self) -> int:
        """Wait for the end of the program: its exit code."""
        assert self._process is not None
        async with asyncio.timeout(PATIENCE):
            code = await self._process.wait()
        self._read_rest()
        return code

    def _read_rest(self) -> None:
        os.set_blocking(self._master, False)
        with suppress(BlockingIOError, OSError):
            while data := os.read(self._master, 65536):
                self.screen.feed(data.decode("utf-8", "replace"))

    async def kill(self) -> None:
        """End the program as a crash would, if it still runs."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def close(self) -> None:
        """End the program if it still runs, and close the terminal."""
        asyncio.get_running_loop().remove_reader(self._master)
        await self.kill()
        os.close(self._master)
        os.close(self.slave)

"""The console of a person at a terminal: a line editor below, everything else above it."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final

from .input import Editor, row
from .keys import KeyReader
from .lines import Line, line, wrapped
from .output import Writer

ERASE_BELOW: Final = "\r\x1b[J"
DEFAULT_COLUMNS: Final = 80


class Terminal:
    """Draws one row with a prompt and the line being typed; lines are shown above it."""

    fancy = True

    def __init__(self, writer: Writer, source: int = 0, target: int = 1) -> None:
        self._writer = writer
        self._source = source
        self._target = target
        self._editor = Editor()
        self._keys = KeyReader()
        self._prompt = "> "
        self._hidden = False
        self._column = 0
        self._found: list[Any] | None = None
        self._on_line: Callable[[str], None] = lambda _: None
        self._on_end: Callable[[], None] = lambda: None

    def start(self, on_line: Callable[[str], None], on_end: Callable[[], None]) -> None:
        """Take the terminal over, until `stop`."""
        self._on_line, self._on_end = on_line, on_end
        self._take_over()
        loop = asyncio.get_running_loop()
        loop.add_reader(self._source, self._read)
        loop.add_signal_handler(signal.SIGWINCH, self._resized)
        loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        self._draw()

    def stop(self) -> None:
        """Give the terminal back as it was found, the prompt's row erased."""
        if self._found is None:
            return
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._source)
        loop.remove_signal_handler(signal.SIGWINCH)
        loop.remove_signal_handler(signal.SIGTSTP)
        self._writer.control(ERASE_BELOW)
        self._give_back()

    def show(self, lines: Iterable[Line]) -> None:
        """Show lines above the row that is being typed, which stays as it is."""
        columns = self._columns()
        rows = [row for shown in lines for row in wrapped(shown, columns)]
        above = "".join(f"{self._writer.render(row)}\n" for row in rows)
        if not above:
            return
        drawn = self._row() if self._found is not None else ""
        erase = ERASE_BELOW if self._found is not None else ""
        self._writer.control(erase + above + drawn)

    def prompt(self, text: str, ask: str, *, hidden: bool = False) -> None:
        """Change what is asked for; a hidden line is drawn as asterisks."""
        if (text, hidden) != (self._prompt, self._hidden):
            self._prompt, self._hidden = text, hidden
            self._draw()

    def _take_over(self) -> None:
        import termios

        self._found = termios.tcgetattr(self._source)
        mode = termios.tcgetattr(self._source)
        # Signals stay on: Ctrl-C and Ctrl-Z must work even while the program is busy.
        mode[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._source, termios.TCSADRAIN, mode)

    def _give_back(self) -> None:
        import termios

        if self._found is not None:
            termios.tcsetattr(self._source, termios.TCSADRAIN, self._found)
            self._found = None

    def _suspend(self) -> None:
        self._writer.control(ERASE_BELOW)
        self._give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._take_over()
        self._draw()

    def _columns(self) -> int:
        try:
            return max(os.get_terminal_size(self._target).columns, 10)
        except OSError:
            return DEFAULT_COLUMNS

    def _resized(self) -> None:
        # The row may have been wrapped: the cursor then stands on a later one.
        up = self._column // self._columns()
        self._writer.control(f"\x1b[{up}A" if up else "")
        self._draw()

    def _draw(self) -> None:
        if self._found is not None:
            self._writer.control(ERASE_BELOW + self._row())

    def _row(self) -> str:
        text = "*" * len(self._editor.text) if self._hidden else self._editor.text
        fit = self._writer.fit
        before, after = fit(text[: self._editor.cursor]), fit(text[self._editor.cursor :])
        shown, self._column = row(fit(self._prompt), before + after, len(before), self._columns())
        place = f"\x1b[{self._column}C" if self._column else ""
        return f"{self._writer.render(line(shown))}\r{place}"

    def _read(self) -> None:
        try:
            data = os.read(self._source, 4096)
        except OSError:
            data = b""
        if not data:
            self._end()
            return
        for key in self._keys.feed(data):
            self._press(key)
        self._draw()

    def _end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._source)
        self._on_end()

    def _press(self, key: str) -> None:
        if key == "enter":
            self._enter()
        elif key == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
        elif key == "redraw":
            self._writer.control("\x1b[2J\x1b[H")
        elif key == "delete-or-end" and not self._editor.text:
            self._end()
        else:
            self._editor.press("delete" if key == "delete-or-end" else key)

    def _enter(self) -> None:
        """Leave what was typed on the screen as a line of its own, then act on it."""
        shown = "" if self._hidden else self._editor.text
        self._writer.control(ERASE_BELOW + self._writer.render(line(self._prompt + shown)) + "\n")
        self._on_line(self._editor.enter(remember=not self._hidden))


def can_edit() -> bool:
    """Whether standard input and output are a terminal that this program can draw on."""
    if os.name == "nt" or os.environ.get("TERM", "dumb") in ("dumb", ""):
        return False
    return sys.stdin.isatty() and sys.stdout.isatty()

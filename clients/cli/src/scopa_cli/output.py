"""The one way to the screen: whatever is written is cleaned here, and styled here."""

import os
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from scopa_protocol.text import for_screen

from .lines import Line, Span, wrapped

SGR: Final[Mapping[str, str]] = {
    "denari": "33;1",
    "coppe": "31;1",
    "spade": "36;1",
    "bastoni": "32;1",
    "red": "31;1",
    "black": "1",
    "bold": "1",
    "dim": "2",
    "mine": "1",
    "qr": "30;47",
}
ASCII: Final = {
    ord(char): plain
    for char, plain in {
        "♦": "",
        "♥": "",
        "♠": "",
        "♣": "",
        "…": "...",
        "─": "-",
        "·": "-",
        "→": "->",
        "—": "-",
    }.items()
}


class Stream(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> object:
        """Take some bytes."""

    def flush(self) -> object:
        """Pass them on."""


class Writer:
    """Writes lines. Text from anywhere passes `for_screen`; only `control` writes escape codes.

    `columns`: where lines are wrapped; None leaves them whole.
    """

    def __init__(
        self,
        stream: Stream,
        *,
        colour: bool = False,
        charset: str = "utf-8",
        columns: int | None = None,
    ) -> None:
        self.colour = colour
        self.charset = charset
        self._columns = columns
        self._stream = stream

    def render(self, line: Line) -> str:
        """A line as it goes to the screen, without its end."""
        return "".join(map(self._span, line))

    def _span(self, span: Span) -> str:
        text = self.fit(for_screen(span.text))
        code = SGR.get(span.style) if self.colour else None
        return f"\x1b[{code}m{text}\x1b[0m" if code and text else text

    def fit(self, text: str) -> str:
        """A text in the characters that the terminal has."""
        if text.isascii():
            return text
        try:
            text.encode(self.charset)
        except UnicodeEncodeError:
            plain = unicodedata.normalize("NFKD", text.translate(ASCII))
            bare = "".join(char for char in plain if not unicodedata.combining(char))
            return bare.encode(self.charset, "replace").decode(self.charset)
        return text

    def lines(self, lines: Iterable[Line]) -> None:
        """Write lines, each with its end."""
        columns = self._columns
        rows = (row for line in lines for row in (wrapped(line, columns) if columns else [line]))
        self.control("".join(f"{self.render(row)}\n" for row in rows))

    def control(self, text: str) -> None:
        """Write text of the client's own making, or already rendered, as it is."""
        self._stream.write(text.encode(self.charset, "replace"))
        self._stream.flush()


def charset(encoding: str | None, environment: Mapping[str, str], utf8_mode: int) -> str:
    """The characters that the terminal can be trusted with.

    Python turns a C locale into UTF-8; that says nothing about the terminal.
    """
    chosen = "PYTHONUTF8" in environment
    if not encoding or (utf8_mode and not chosen):
        return "ascii"
    return encoding


def standard_writer(*, colour: bool = False, ascii_only: bool = False) -> Writer:
    """A writer to standard output."""
    known = charset(sys.stdout.encoding, os.environ, sys.flags.utf8_mode)
    return Writer(sys.stdout.buffer, colour=colour, charset="ascii" if ascii_only else known)


def error_writer() -> Writer:
    """A writer to standard error."""
    known = charset(sys.stderr.encoding, os.environ, sys.flags.utf8_mode)
    return Writer(sys.stderr.buffer, charset=known, columns=_error_columns())


def _error_columns() -> int | None:
    """How wide standard error is; None where it is no terminal."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or None
    except (OSError, ValueError):
        return None

"""Text to show, as lines of spans. A span names a style; no escape code ever stands in one."""

import unicodedata
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from scopa_protocol.text import for_screen

Style: TypeAlias = Literal[
    "", "denari", "coppe", "spade", "bastoni", "red", "black", "bold", "dim", "mine", "qr"
]


class Span(NamedTuple):
    """A piece of a line in one style."""

    text: str
    style: Style = ""


Line: TypeAlias = tuple[Span, ...]

ZERO_WIDTH = frozenset({"Mn", "Me", "Cf", "Cc"})


def line(*parts: str | Span | Line) -> Line:
    """A line made of plain text, spans and other lines."""
    spans: list[Span] = []
    for part in parts:
        if isinstance(part, Span):
            spans.append(part)
        elif isinstance(part, str):
            spans.append(Span(part))
        else:
            spans.extend(part)
    return tuple(spans)


def joined(parts: Iterable[Line], between: str) -> Line:
    """Several lines as one, with text between them."""
    spans: list[Span] = []
    for index, part in enumerate(parts):
        if index:
            spans.append(Span(between))
        spans.extend(part)
    return tuple(spans)


def words(shown: Line) -> str:
    """A line's text without its styles."""
    return "".join(span.text for span in shown)


def char_width(char: str) -> int:
    """Columns that a character takes on a terminal: 0, 1 or 2."""
    if " " <= char <= "~":
        return 1
    if unicodedata.category(char) in ZERO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def width(text: str) -> int:
    """Columns that a text takes once it is cleaned for the screen."""
    return sum(map(char_width, for_screen(text)))


def fit(text: str, columns: int) -> str:
    """A text of exactly so many columns: filled with spaces, or cut with an ellipsis."""
    text = for_screen(text)
    if width(text) > columns:
        while text and width(text) > columns - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (columns - width(text))


def right(text: str, columns: int) -> str:
    """A text at the right end of so many columns."""
    return " " * (columns - width(text)) + text

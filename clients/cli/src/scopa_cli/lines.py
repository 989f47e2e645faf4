"""Text to show, as lines of spans. A span names a style; no escape code ever stands in one."""

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

from scopa_protocol.text import for_screen

Style: TypeAlias = Literal[
    "", "denari", "coppe", "spade", "bastoni", "red", "black", "bold", "dim", "mine", "qr"
]


class Span(NamedTuple):
    """A piece of a line in one style."""

    text: str
    style: Style = ""


Line: TypeAlias = tuple[Span, ...]

GAP: Final = re.compile(r"(?<=\S) +(?=[^\s─·])")
"""Where a row may end; dashes and dots stay with what they follow."""
WIDE: Final = 3
"""Spaces that part columns rather than words, as a dot does."""


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


def width(text: str) -> int:
    """Columns that a text takes once it is cleaned for the screen."""
    text = for_screen(text)
    if text.isascii():
        return len(text)
    # Its tables take as long to load as the client takes to start.
    from wcwidth import wcswidth

    return max(wcswidth(text), 0)


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


def wrapped(shown: Line, columns: int) -> list[Line]:
    """A line in rows that fit so many columns: broken between columns, else between words."""
    clean = tuple(Span(for_screen(span.text), span.style) for span in shown)
    text = words(clean)
    rows: list[Line] = []
    start, room = 0, columns
    indent = min(len(text) - len(text.lstrip(" ")) + 2, columns // 2)
    while width(text[start:]) > room and (gap := _gap(text, start, room)):
        rows.append(_part(clean, start, gap.start()))
        start, room = gap.end(), columns - indent
    rows.append(_part(clean, start, len(text)))
    return [rows[0], *(line(" " * indent, row) for row in rows[1:])]


def _gap(text: str, start: int, room: int) -> re.Match[str] | None:
    """Where a row that begins at `start` had better end; None where its one word is the last."""
    gaps = list(GAP.finditer(text, start))
    fitting = [gap for gap in gaps if width(text[start : gap.start()]) <= room]
    wide = [gap for gap in fitting if len(gap[0]) >= WIDE or text[gap.start() - 1] == "·"]
    ends = wide or fitting or gaps[:1]
    return ends[-1] if ends else None


def _part(shown: Line, start: int, end: int) -> Line:
    """The spans between two places of a line's text."""
    spans: list[Span] = []
    at = 0
    for span in shown:
        text = span.text[max(start - at, 0) : max(end - at, 0)]
        spans += [Span(text, span.style)] if text else []
        at += len(span.text)
    return tuple(spans)

"""Text that people type: names and talk, made safe for everybody else's screen."""

import unicodedata
from typing import Final

NAME_LENGTH: Final = 24
SAY_LENGTH: Final = 280

_JOINERS: Final = "\u200c\u200d"
_UNSAFE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Characters that are letters by category and yet show nothing, or that reorder a line.
_BLANKS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5\ufffc\U0001d159")
_MARKS: Final = 5
"""Marks that one letter may carry; scripts that stack most have as many."""
_AT_MOST: Final = 4
"""How many times longer than what is kept a text may be as typed: to clean more costs too much."""


def is_unsafe(char: str) -> bool:
    """Whether a character is a control, format, bidi, invisible or unassigned one."""
    return unicodedata.category(char) in _UNSAFE_CATEGORIES or char in _BLANKS


def clean_name(text: str) -> str | None:
    """A name in NFKC, trimmed, spaces single; None unless it has 1-24 safe code points."""
    if len(text) > NAME_LENGTH * _AT_MOST or any(is_unsafe(char) for char in text):
        return None
    name = " ".join(unicodedata.normalize("NFKC", text).split())
    if not 1 <= len(name) <= NAME_LENGTH or any(is_unsafe(char) for char in name):
        return None
    if name != _lowered(name):
        return None
    return name if any(_shows(char) for char in name) else None


def _shows(char: str) -> bool:
    """Whether a character shows something by itself: no mark, no space."""
    return unicodedata.category(char)[0] not in "MZ"


def clean_talk(text: str) -> str | None:
    """What was said without unsafe characters; None if nothing is left or it is too long.

    Joiners stay inside words and emoji, where they shape what is written.
    """
    if len(text) > SAY_LENGTH * _AT_MOST:
        return None
    spaced = "".join(" " if char in "\t\r\n\u2028\u2029" else char for char in text)
    said = " ".join(for_screen(spaced).split())
    return said if 1 <= len(said) <= SAY_LENGTH and any(map(_shows, said)) else None


def _joins(text: str, index: int) -> bool:
    before, after = text[index - 1 : index], text[index + 1 : index + 2]
    if not before or not after:
        return False
    return not any(char.isspace() or is_unsafe(char) for char in (before, after))


def for_screen(text: str) -> str:
    """Any text from the wire without what could move a cursor, or hide or overgrow a letter."""
    low = _lowered(text)
    return "".join(
        char
        for index, char in enumerate(low)
        if not is_unsafe(char) or (char in _JOINERS and _joins(low, index))
    )


def _lowered(text: str) -> str:
    """A text without marks that stand on nothing, or pile up over the lines around."""
    kept: list[str] = []
    marks = _MARKS
    for char in text:
        if unicodedata.category(char) in {"Mn", "Me"}:
            marks += 1
            if marks > _MARKS:
                continue
        elif char.isspace():
            marks = _MARKS
        elif not is_unsafe(char):
            marks = 0
        kept.append(char)
    return "".join(kept)

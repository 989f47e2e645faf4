"""The words of one line of the notation: cards, numbers, `key=value`, and quoted text."""

import json
import re
from typing import Final, cast

from msgspec import Struct

CARD: Final = re.compile(r"(?:10|[1-9])[DCSB]")
NUMBER: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
PLAIN: Final = re.compile(r"[A-Za-z0-9_.+-]+", re.ASCII)
_PIECE: Final = r'(?:"(?:[^"\\]|\\.)*"|[^\s"#=]+)'
_WORD: Final = re.compile(rf"({_PIECE})(?:=({_PIECE}))?")


class Wrong(Exception):
    """What is wrong with a line, in words."""


class Clause(Struct):
    """One line: what it is about, its pairs, and its other words in order."""

    head: str
    pairs: dict[str, str]
    words: list[str]

    def number(self, key: str) -> int:
        """A pair's number."""
        return number(self.text(key))

    def optional(self, key: str) -> int | None:
        """A pair's number, or None where the pair is missing."""
        return number(self.pairs[key]) if key in self.pairs else None

    def text(self, key: str) -> str:
        """A pair's text."""
        if key not in self.pairs:
            raise Wrong(f"{key}= is missing")
        return self.pairs[key]

    def only(self) -> str:
        """The one word that stands there."""
        if len(self.words) != 1 or self.pairs:
            raise Wrong(f"one word belongs behind {self.head}")
        return self.words[0]

    def cards(self) -> list[str]:
        """All words, as cards."""
        return [card(word) for word in self.words]

    def numbered(self) -> int:
        """The number that stands first, which the other words belong to."""
        if not self.words:
            raise Wrong(f"a number belongs behind {self.head}")
        return number(self.words.pop(0))


def split(text: str) -> Clause | None:
    """A line's words; None if it has none, or only a comment. Raises Wrong."""
    found: list[tuple[str, str | None]] = []
    place = 0
    while True:
        place += len(text[place:]) - len(text[place:].lstrip())
        if place == len(text) or text[place] == "#":
            break
        word = _WORD.match(text, place)
        if word is None:
            raise Wrong(f"what follows can't be read: {json.dumps(text[place : place + 20])}")
        found.append((_unquoted(word[1]), None if word[2] is None else _unquoted(word[2])))
        place = word.end()
    return _clause(found) if found else None


def _clause(found: list[tuple[str, str | None]]) -> Clause:
    head, value = found[0]
    if value is not None:
        raise Wrong("a line begins with what it is about, as in: dealer 1")
    clause = Clause(head, {}, [])
    for word, other in found[1:]:
        if other is None:
            clause.words.append(word)
        elif word in clause.pairs:
            raise Wrong(f"{word}= stands twice")
        else:
            clause.pairs[word] = other
    return clause


def _unquoted(word: str) -> str:
    if not word.startswith('"'):
        return word
    try:
        return cast(str, json.loads(word))
    except ValueError:
        raise Wrong("the quoted text isn't written as in JSON") from None


def quoted(text: str) -> str:
    """A text as one word: as it is where that is plain, otherwise quoted as in JSON."""
    return text if PLAIN.fullmatch(text) else json.dumps(text)


def card(word: str) -> str:
    """A card, in either case."""
    if not CARD.fullmatch(word.upper()):
        raise Wrong(f"{json.dumps(word)} is no card")
    return word.upper()


def number(word: str) -> int:
    """A whole number."""
    if not NUMBER.fullmatch(word):
        raise Wrong(f"{json.dumps(word)} is no number")
    return int(word)

"""Names that look alike are one name (protocol, Identity)."""

import unicodedata
from functools import lru_cache
from itertools import chain, count

from confusable_homoglyphs import confusables

BOT_NAMES = (
    "Arlecchino",
    "Colombina",
    "Pantalone",
    "Brighella",
    "Pulcinella",
    "Balanzone",
    "Scaramuccia",
    "Tartaglia",
)


# What case folding and the fonts people use make of some letters, beyond Unicode's own table.
_ALIKE = str.maketrans({"i": "1", "l": "1", "|": "1", "o": "0"})


@lru_cache(maxsize=4096)
def skeleton(name: str) -> str:
    """What a name looks like: case-folded, marks and spaces dropped, look-alikes as one."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    shown = "".join(_lookalike(char) for char in plain if not _slight(char))
    return shown.translate(_ALIKE).replace("rn", "m").replace("vv", "w")


def _slight(char: str) -> bool:
    return char.isspace() or unicodedata.category(char).startswith("M")


@lru_cache(maxsize=4096)
def _lookalike(char: str) -> str:
    """The plain letter that a character may be taken for, or the character itself."""
    if char.isascii():
        return char
    found = confusables.is_confusable(char, greedy=True, preferred_aliases=[])
    glyphs = [glyph["c"] for entry in found or [] for glyph in entry["homoglyphs"]]
    plain = [glyph.casefold() for glyph in glyphs if glyph.isascii()]
    return min(plain, default=char)


def taken(name: str, others: list[str]) -> bool:
    """Whether a name looks like one of the others."""
    return skeleton(name) in map(skeleton, others)


def bot_name(others: list[str]) -> str:
    """A name for a bot that nobody else has."""
    numbered = (f"Bot {number}" for number in count(1))
    return next(name for name in chain(BOT_NAMES, numbered) if not taken(name, others))

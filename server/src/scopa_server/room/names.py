"""Names that look alike are one name, and a bot's is nobody else's (protocol, Identity)."""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain, count

from confusable_homoglyphs import categories, confusables

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

# Alphabets that one name may be written in (Unicode's UTS 39, highly restrictive): one of its own,
# or Latin beside one of East Asia's ways of writing.
_TOGETHER = (
    frozenset({"LATIN", "HAN", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "HAN", "BOPOMOFO"}),
    frozenset({"LATIN", "HAN", "HANGUL"}),
)
_OF_ANY = frozenset({"COMMON", "INHERITED"})

# What case folding and the fonts people use make of some letters, beyond Unicode's own table.
_ALIKE = str.maketrans({"i": "1", "l": "1", "|": "1", "o": "0"})
# Cyrillic pe, Greek pi and eta as they are written; their capitals look like no letter of ours.
_SHAPES = {"\u043f": "n", "\u03c0": "n", "\u03b7": "n"}
_SMALL_CAPITAL = re.compile("LATIN LETTER SMALL CAPITAL ([A-Z])")


@lru_cache(maxsize=4096)
def skeletons(name: str) -> frozenset[str]:
    """What a name looks like, as written and case-folded: marks and spaces dropped, look-alikes
    as one. A Greek capital nu looks like N, the small one like v.
    """
    plain = unicodedata.normalize("NFKC", name)
    return frozenset({_skeleton(plain, _SHAPES), _skeleton(plain.casefold(), {})})


def _skeleton(text: str, shapes: Mapping[str, str]) -> str:
    plain = unicodedata.normalize("NFKD", text)
    shown = "".join(shapes.get(char) or _lookalike(char) for char in plain if not _slight(char))
    return shown.casefold().translate(_ALIKE).replace("rn", "m").replace("vv", "w")


def _slight(char: str) -> bool:
    return char.isspace() or unicodedata.category(char).startswith("M")


@lru_cache(maxsize=4096)
def _lookalike(char: str) -> str:
    """The plain letter that a character, or its small or capital one, may be taken for; or itself.

    Small Cyrillic letters are small capitals by their shape, so no table takes them for small ones.
    """
    forms = dict.fromkeys((char, char.casefold(), char.upper()))
    plain = (_plain(form) for form in forms if len(form) == 1)
    return next((letter for letter in plain if letter), char)


def _plain(char: str) -> str:
    """The plain letter that a character itself may be taken for, or nothing."""
    if char.isascii():
        return char
    small_capital = _SMALL_CAPITAL.fullmatch(unicodedata.name(char, ""))
    if small_capital:
        return small_capital[1].casefold()
    found = confusables.is_confusable(char, greedy=True, preferred_aliases=[])
    glyphs = [glyph["c"] for entry in found or [] for glyph in entry["homoglyphs"]]
    return min((glyph.casefold() for glyph in glyphs if glyph.isascii()), default="")


def mixed(name: str) -> bool:
    """Whether a name mixes alphabets, as one does that imitates another letter by letter."""
    plain = unicodedata.normalize("NFKC", name)
    alphabets = frozenset(map(_alphabet, plain)) - _OF_ANY
    return len(alphabets) > 1 and not any(alphabets <= together for together in _TOGETHER)


@lru_cache(maxsize=4096)
def _alphabet(char: str) -> str:
    return categories.alias(char).upper()


# As skeletons are spelled: o is 0, and a Cyrillic b is 6. In brackets, as clients mark a bot or a
# host beside its name.
_CLAIM = re.compile(r"[b6]0t\d*|.*[(\[{<]([b6]0t|h0st).*")


def of_a_bot(name: str) -> bool:
    """Whether a name looks like a bot's, in any room, or claims to be one."""
    looks = skeletons(name)
    return not looks.isdisjoint(_bots()) or any(_CLAIM.fullmatch(look) for look in looks)


@lru_cache(maxsize=1)
def _bots() -> frozenset[str]:
    return frozenset(chain.from_iterable(map(skeletons, BOT_NAMES)))


def taken(name: str, others: list[str]) -> bool:
    """Whether a name looks like one of the others."""
    return any(not skeletons(name).isdisjoint(skeletons(other)) for other in others)


def bot_name(others: list[str]) -> str:
    """A name for a bot that nobody else has."""
    numbered = (f"Bot {number}" for number in count(1))
    return next(name for name in chain(BOT_NAMES, numbered) if not taken(name, others))

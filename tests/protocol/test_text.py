"""Names and talk: what may reach another player's screen."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scopa_protocol.text import (
    NAME_LENGTH,
    SAY_LENGTH,
    clean_name,
    clean_talk,
    for_screen,
    is_unsafe,
)

ESC = "\x1b"
NEL = "\x85"
C1 = "\x9b"
RLO = "\u202e"
ISOLATE = "\u2066"
ZERO_WIDTH_SPACE = "\u200b"
ZWNJ = "\u200c"
ZWJ = "\u200d"
BOM = "\ufeff"
SOFT_HYPHEN = "\u00ad"
TAG = "\U000e0041"
LINE_SEPARATOR = "\u2028"
HANGUL_FILLER = "\u3164"
BRAILLE_BLANK = "\u2800"
NULL_NOTEHEAD = "\U0001d159"
OBJECT = "\ufffc"
ACUTE = "\u0301"
UNSAFE = [
    "\x00",
    "\x07",
    ESC,
    "\x7f",
    NEL,
    C1,
    RLO,
    ISOLATE,
    ZERO_WIDTH_SPACE,
    BOM,
    SOFT_HYPHEN,
    TAG,
    HANGUL_FILLER,
    BRAILLE_BLANK,
    NULL_NOTEHEAD,
    OBJECT,
    "\ud800",
    "\ue000",
    "\ufdd0",
]
FAMILY = f"\U0001f468{ZWJ}\U0001f469{ZWJ}\U0001f467"
PERSIAN = f"\u0645\u06cc{ZWNJ}\u062e\u0648\u0627\u0647\u0645"


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Anna", "Anna"),
        ("  Anna  ", "Anna"),
        ("Anna   Rosa", "Anna Rosa"),
        ("\u00a0Anna\u3000Rosa", "Anna Rosa"),
        ("Ａｎｎａ", "Anna"),
        ("e\u0301", "é"),
        ("ﬁlippo", "filippo"),
        ("Łukasz", "Łukasz"),
        ("小明", "小明"),
        ("🦊", "🦊"),
        ("<b>", "<b>"),
    ],
)
def test_a_name_is_tidied(typed: str, name: str) -> None:
    assert clean_name(typed) == name


@pytest.mark.parametrize("char", [*UNSAFE, "\t", "\n", "\r", LINE_SEPARATOR, ZWJ, ZWNJ])
@pytest.mark.parametrize("place", ["{}Anna", "An{}na", "Anna{}"])
def test_a_name_with_an_unsafe_character_is_refused(char: str, place: str) -> None:
    assert clean_name(place.format(char)) is None


@pytest.mark.parametrize("text", ["", " ", "\u3000", ACUTE, ACUTE * 3, f" {ACUTE} ", "\u20dd"])
def test_a_name_shows_something(text: str) -> None:
    assert clean_name(text) is None


@pytest.mark.parametrize(
    "name", ["A" + ACUTE * 7, f"{ACUTE}Anna", f"Anna {ACUTE}Rosa", "ก" + "้" * 6]
)
def test_a_name_keeps_to_its_line(name: str) -> None:
    assert clean_name(name) is None


def test_a_name_has_at_most_24_code_points_as_it_is_kept() -> None:
    assert clean_name("a" * NAME_LENGTH) == "a" * NAME_LENGTH
    assert clean_name(" " + "a" * NAME_LENGTH + " ") == "a" * NAME_LENGTH
    assert clean_name("a" * (NAME_LENGTH + 1)) is None
    assert clean_name("\ufdfa" * 2) is None, "one code point may become eighteen"
    assert NAME_LENGTH == 24


@pytest.mark.parametrize("char", UNSAFE)
def test_talk_loses_unsafe_characters(char: str) -> None:
    assert clean_talk(f"{char}bel{char}la{char}") == "bella"


@pytest.mark.parametrize("char", ["\t", "\n", "\r\n", LINE_SEPARATOR, "\u2029"])
def test_talk_is_one_line(char: str) -> None:
    assert clean_talk(f"bella{char}mano") == "bella mano"


@pytest.mark.parametrize("text", [FAMILY, PERSIAN, "👍🏽", "❤️", "e\u0301", "🏳️‍🌈"])
def test_talk_keeps_what_shapes_letters_and_emoji(text: str) -> None:
    assert clean_talk(text) == text


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (f"{ZWJ}a{ZWJ}", "a"),
        (f"a {ZWJ} b", "a b"),
        (f"a{ZWJ}{ZWJ}b", "ab"),
        (f"a{ZWNJ}{RLO}b", "ab"),
    ],
)
def test_a_joiner_that_joins_nothing_goes(said: str, kept: str) -> None:
    assert clean_talk(said) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("a" + ACUTE * 279, "a" + ACUTE * 5),
        (f"a{ACUTE * 3}{ESC}{ZWJ}{ACUTE * 9}b", f"a{ACUTE * 5}b"),
        (f"{ACUTE}a {ACUTE}b", "a b"),
        ("\u05e9\u05bc\u05c1\u05b8\u0591", "\u05e9\u05bc\u05c1\u05b8\u0591"),
        ("1\ufe0f\u20e3", "1\ufe0f\u20e3"),
    ],
)
def test_marks_do_not_pile_up_over_other_lines(said: str, kept: str) -> None:
    assert clean_talk(said) == kept
    assert for_screen(said) == kept


@pytest.mark.parametrize("text", ["", "  ", ESC, RLO * 5, ZWJ, ACUTE, f"{ESC}{ACUTE}"])
def test_nothing_was_said(text: str) -> None:
    assert clean_talk(text) is None


def test_talk_has_at_most_280_code_points_as_it_is_kept() -> None:
    assert clean_talk("a" * SAY_LENGTH + ESC * 40) == "a" * SAY_LENGTH
    assert clean_talk("a" * (SAY_LENGTH + 1)) is None
    assert SAY_LENGTH == 280


def test_a_text_far_too_long_is_not_even_cleaned() -> None:
    assert clean_name(" " * 80 + "Anna") == "Anna"
    assert clean_talk("a" + ZWJ * 1000) == "a"

    def never(_: object, __: object = None) -> str:
        raise AssertionError("it was worked on")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unicodedata.category", never)
        patch.setattr("unicodedata.normalize", never)
        kept = [
            clean(text)
            for text in ("a" * 16000, "\ufdfa" * 5000, ACUTE * 8000, " " * 16000)
            for clean in (clean_name, clean_talk)
        ]
    assert kept == [None] * 8


def test_a_cursor_cannot_be_moved_from_afar() -> None:
    assert clean_talk(f"{ESC}[2J{ESC}]0;ciao\x07") == "[2J]0;ciao"
    assert for_screen(f"A{C1}31m{RLO}b\nc") == "A31mbc"


@given(st.text())
def test_whatever_is_typed_what_is_kept_is_safe(text: str) -> None:
    name = clean_name(text)
    assert name is None or (clean_name(name) == name and not any(map(is_unsafe, name)))
    assert name is None or name == unicodedata.normalize("NFKC", name)
    for said in (clean_talk(text), for_screen(text)):
        assert said is None or not any(is_unsafe(char) and char not in ZWJ + ZWNJ for char in said)


@given(st.text(alphabet=st.sampled_from("aé 🦊\t" + ZWJ + ZWNJ + ESC + RLO + ACUTE), max_size=20))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    said = clean_talk(text)
    assert said is None or clean_talk(said) == said

"""Lines that are wider than the terminal."""

import pytest

from scopa_cli.lines import Line, Span, line, width, words, wrapped


def rows(shown: Line, columns: int) -> list[str]:
    """A line's rows as they are read."""
    return [words(row) for row in wrapped(shown, columns)]


def test_a_line_that_fits_stays_as_it_is() -> None:
    assert rows(line("  Table  7B  8C"), 15) == ["  Table  7B  8C"]
    assert rows(line(), 10) == [""]


def test_a_long_line_is_broken_between_words_and_goes_on_indented() -> None:
    shown = line("  settings: talk=always, pace_ms=3000, hints=memory")
    assert rows(shown, 30) == [
        "  settings: talk=always,",
        "    pace_ms=3000, hints=memory",
    ]


def test_a_row_of_columns_is_broken_between_columns() -> None:
    shown = line("  Hand    3  ", Span("3C", "coppe"), "   3 di coppe          no capture")
    assert rows(shown, 40) == ["  Hand    3  3C   3 di coppe", "    no capture"]


def test_styles_go_with_their_text() -> None:
    first, second = wrapped(line("You take ", Span("7D 3C", "denari"), "."), 11)
    assert first == (Span("You take "), Span("7D", "denari"))
    assert second == (Span("  "), Span("3C", "denari"), Span("."))


@pytest.mark.parametrize("text", ["x" * 50, "  " + "x" * 50, "wss://scopa.example.org/KRTNWXYZ"])
def test_one_long_word_is_left_whole(text: str) -> None:
    assert rows(line(text), 20) == [text]


@pytest.mark.parametrize("columns", [10, 24, 40, 79])
def test_no_row_is_too_wide_and_no_word_is_lost(columns: int) -> None:
    text = "  Last   王小明 played 10D, took 3C 7S: scopa!    ciao\x1b a\n tutti"
    broken = wrapped(line(text), columns)
    assert all(width(words(row)) <= columns for row in broken)
    assert " ".join(map(words, broken)).split() == words(wrapped(line(text), 999)[0]).split()

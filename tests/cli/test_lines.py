"""Lines that are wider than the terminal."""

import pytest

from scopa_cli.lines import Line, Span, fit, line, width, words, wrapped


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


@pytest.mark.parametrize(
    ("text", "columns", "broken"),
    [
        ("── Match 1, to 51 ──", 18, ["── Match 1, to", "  51 ──"]),
        (
            "── Deal 1 · dealt by Bruno · 30 cards in the stock ──",
            44,
            ["── Deal 1 · dealt by Bruno ·", "  30 cards in the stock ──"],
        ),
        (
            "  Annamaria  score  7 · captured 12 · scope 0",
            44,
            ["  Annamaria  score  7 · captured 12 ·", "    scope 0"],
        ),
    ],
)
def test_dashes_and_what_stands_between_dots_stay_whole(
    text: str, columns: int, broken: list[str]
) -> None:
    assert rows(line(text), columns) == broken


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


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("Anna", 4),
        ("é", 1),
        ("e\u0301", 1),
        ("王小明", 6),
        ("한", 2),
        ("\u1112\u1161\u11ab", 2),
        ("❤", 1),
        ("❤️", 2),
        ("👍🏽", 2),
        ("🇮🇹", 2),
        ("👨\u200d👩\u200d👧", 2),
        ("1️⃣", 2),
        ("ก้", 1),
        ("\u202eAnna\x1b", 4),
        ("\u0301", 0),
    ],
)
def test_a_text_is_as_wide_as_a_terminal_draws_it(text: str, columns: int) -> None:
    assert width(text) == columns
    assert width(fit(text, 9)) == 9


def test_a_text_that_is_cut_is_as_wide_as_its_column() -> None:
    for text in ("👨\u200d👩\u200d👧" * 4, "王小明" * 3, "❤️" * 9, "e\u0301" * 20):
        assert width(fit(text, 7)) == 7

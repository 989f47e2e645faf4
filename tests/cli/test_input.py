"""The line being typed: keys, editing, history, and the row that shows it."""

from hypothesis import given
from hypothesis import strategies as st

from scopa_cli.input import Editor, row
from scopa_cli.keys import KeyReader
from scopa_cli.lines import width


def typed(*keys: str) -> Editor:
    """An editor after these keys; a key of several letters is a named one in brackets."""
    editor = Editor()
    for key in keys:
        if key.startswith("<"):
            editor.press(key[1:-1])
        else:
            for char in key:
                editor.press(char)
    return editor


def test_characters_are_inserted_at_the_cursor() -> None:
    editor = typed("ac", "<left>", "b", "<home>", "x", "<end>", "!")
    assert (editor.text, editor.cursor) == ("xabc!", 5)


def test_words_and_ends_are_cut() -> None:
    assert typed("play 7D 3C", "<kill-word>").text == "play 7D "
    assert typed("play 7D  ", "<kill-word>").text == "play "
    assert typed("play", "<kill-word>").text == ""
    assert typed("abc", "<left>", "<kill-left>").text == "c"
    assert typed("abc", "<home>", "<right>", "<kill-right>").text == "a"
    assert typed("abc", "<home>", "<delete>").text == "bc"
    assert typed("abc", "<backspace>").text == "ab"


def test_the_cursor_moves_by_words() -> None:
    assert typed("one two", "<word-left>").cursor == 4
    assert typed("one two", "<home>", "<word-right>").cursor == 3
    assert typed("one two", "<home>", "<word-right>", "<word-right>").cursor == 7


def test_marks_go_with_their_letter() -> None:
    assert typed("e\u0301", "<backspace>").text == ""
    assert typed("e\u0301x", "<home>", "<right>").cursor == 2


def test_nothing_happens_at_the_ends() -> None:
    for key in ("left", "right", "backspace", "delete", "up", "down", "kill-word", "nonsense"):
        assert typed(f"<{key}>").text == ""


def test_history_goes_up_and_down_and_keeps_the_draft() -> None:
    editor = typed("first")
    assert editor.enter() == "first"
    for char in "second":
        editor.press(char)
    editor.enter()
    for key in ("d", "up"):
        editor.press(key)
    assert editor.text == "second"
    editor.press("up")
    editor.press("up")
    assert editor.text == "first"
    editor.press("down")
    editor.press("down")
    assert editor.text == "d"


def test_a_hidden_line_is_not_remembered() -> None:
    editor = typed("secret")
    assert editor.enter(remember=False) == "secret"
    editor.press("up")
    assert editor.text == ""


KEYS = "a 漢 \u0301 <left> <right> <backspace> <delete> <home> <end> <kill-word> <word-left> <up>"


@given(st.lists(st.sampled_from([" ", *KEYS.split()])))
def test_the_cursor_never_leaves_the_line(keys: list[str]) -> None:
    editor = typed(*keys)
    assert 0 <= editor.cursor <= len(editor.text)


@given(st.text("ab漢é ", max_size=60), st.integers(0, 60), st.integers(10, 40))
def test_a_row_fits_and_shows_the_cursor(text: str, cursor: int, columns: int) -> None:
    cursor = min(cursor, len(text))
    shown, column = row("your turn> ", text, cursor, columns)
    assert width(shown) < columns
    assert column <= width(shown)


def test_a_long_line_scrolls_with_its_cursor() -> None:
    shown, column = row("> ", "0123456789abcdef", 16, 10)
    assert shown == "> abcdef"
    assert column == 8
    shown, column = row("> ", "0123456789abcdef", 0, 10)
    assert shown == "> 0123456"
    assert column == 2


def test_bytes_become_keys() -> None:
    reader = KeyReader()
    assert reader.feed(b"a\x7f\x1b[D\x1bOH\x1b[3~\x17\r") == [
        "a",
        "backspace",
        "left",
        "home",
        "delete",
        "kill-word",
        "enter",
    ]


def test_halves_wait_for_their_rest() -> None:
    reader = KeyReader()
    assert reader.feed("è".encode()[:1]) == []
    assert reader.feed("è".encode()[1:] + b"\x1b") == ["è"]
    assert reader.feed(b"[1;5") == []
    assert reader.feed(b"D7") == ["word-left", "7"]


def test_unknown_sequences_and_controls_do_nothing() -> None:
    assert KeyReader().feed(b"\x1b[200~7D\x1b[201~\x1b[99;3R\x1bx\x00\x1a") == ["7", "D", "x"]


@given(st.binary())
def test_any_bytes_are_read(data: bytes) -> None:
    keys = KeyReader().feed(data)
    assert all(len(key) > 1 or key.isprintable() for key in keys)

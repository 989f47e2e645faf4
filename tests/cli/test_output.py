"""The one writer: nothing from anybody reaches the terminal uncleaned."""

import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scopa_cli.lines import Span, fit, line, width
from scopa_cli.output import Writer, charset, error_writer
from scopa_protocol.text import is_unsafe

NASTY = {
    "an escape": "\x1b[2J\x1b]0;owned\x07",
    "a C1 control": "\x9b2J\x9d0;x\x9c",
    "bidi": "\u202eevil\u202c\u2066x\u2069",
    "zero width": "a\u200bb\u2060c\ufeffd",
    "line ends": "one\r\ntwo\u2028three\x0bfour\x85",
    "backspaces": "Anna\b\b\b\bBruno\x7f",
}


def written(text: str, *, colour: bool = False, charset: str = "utf-8") -> str:
    """What reaches the screen of one span."""
    out = BytesIO()
    Writer(out, colour=colour, charset=charset).lines([line(Span(text, "bold"))])
    return out.getvalue().decode(charset)


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY.keys())
def test_nothing_that_moves_a_cursor_or_hides_is_written(text: str) -> None:
    shown = written(f"<{text}>")
    assert shown.endswith(">\n")
    assert not any(is_unsafe(char) for char in shown[:-1])


@given(st.text())
def test_any_text_stays_on_its_line(text: str) -> None:
    shown = written(text)
    assert shown.count("\n") == 1
    assert not any(is_unsafe(char) and char not in "\u200c\u200d" for char in shown[:-1])


@given(st.text())
def test_any_text_can_be_written_in_ascii(text: str) -> None:
    assert written(text, charset="ascii").isascii()


@pytest.mark.parametrize(
    ("columns", "rows"), [(20, ["This machine holds", "  several seats."]), (0, []), (None, [])]
)
def test_errors_are_wrapped_where_they_go_to_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    columns: int | None,
    rows: list[str],
) -> None:
    def size(_: int) -> os.terminal_size:
        if columns is None:
            raise OSError
        return os.terminal_size((columns, 24))

    monkeypatch.setattr("os.get_terminal_size", size)
    whole = "This machine holds several seats."
    error_writer().lines([line(whole)])
    assert capfdbinary.readouterr().err.decode().splitlines() == (rows or [whole])


def test_colours_are_the_writers_own() -> None:
    assert written("7D", colour=True) == "\x1b[1m7D\x1b[0m\n"
    assert written("\x1b[31mred", colour=True) == "\x1b[1m[31mred\x1b[0m\n"


def test_symbols_have_a_way_to_be_written_in_ascii() -> None:
    assert written("── 7D♦ · Zoë → …", charset="ascii") == "-- 7D - Zoe -> ...\n"


def test_a_c_locale_is_not_trusted_with_more_than_ascii() -> None:
    assert charset("utf-8", {}, utf8_mode=1) == "ascii"
    assert charset("utf-8", {"PYTHONUTF8": "1"}, utf8_mode=1) == "utf-8"
    assert charset("utf-8", {}, utf8_mode=0) == "utf-8"
    assert charset("iso8859-1", {}, utf8_mode=0) == "iso8859-1"
    assert charset(None, {}, utf8_mode=0) == "ascii"


def test_wide_characters_take_two_columns() -> None:
    assert (width("abc"), width("漢字"), width("e\u0301")) == (3, 4, 1)
    assert fit("漢字漢字", 5) == "漢字…"
    assert width(fit("漢字漢字", 4)) == 4
    assert fit("ab", 4) == "ab  "


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("word", ["rooms", "--version", "--help"])
def test_a_full_disk_under_the_output_is_told_in_a_line(tmp_path: Path, word: str) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "scopa_cli", word],
            stdout=full,
            stderr=subprocess.PIPE,
            env={"XDG_STATE_HOME": str(tmp_path)},
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (1, b"scopa: No space left on device\n")

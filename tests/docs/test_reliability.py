"""The page on reliability names tests and faults that there are."""

import re
from pathlib import Path

import pytest

from chaos import FAULTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))
TIMES = PAGE.partition("<!-- recovery: begin -->")[2].partition("<!-- recovery: end -->")[0]


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_what_shows_a_promise_is_there(file: str, test: str) -> None:
    source = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"^(async )?def {test}\(", source, re.MULTILINE) if test else source


def test_every_promise_is_shown() -> None:
    promises = PAGE.partition("## What is promised")[2].partition("\n## ")[0]
    rows = [line for line in promises.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    assert all("`tests/" in row for row in rows)


def test_every_fault_has_its_time() -> None:
    assert re.findall(r"^\| ([^|]+?) +\|", TIMES, re.MULTILINE)[1:] == [f.name for f in FAULTS]

"""What is said of security has its test, and the test is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["SECURITY.md", "docs/security.md"]
TEST = re.compile(r"`([\w/]+/test_\w+\.py)::(test_\w+)`")
BEYOND = "— (nor can any server help it)"
"""The one claim that no test can show."""


def rows(page: str) -> list[list[str]]:
    """The cells of every row of a page's tables, their heads apart."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("|") and not line.startswith("|---")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return [row for row in cells if row[-1] != "shown by"]


@cache
def names_in(path: Path) -> set[str]:
    """The names of a file's tests."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in tree.body if isinstance(node, kinds)}


@pytest.mark.parametrize("page", PAGES)
def test_every_claim_names_a_test_that_is_there(page: str) -> None:
    claims = rows(page)
    assert len(claims) > 20
    for *said, shown in claims:
        named = TEST.findall(shown)
        assert named or said[-1] == BEYOND, said
        for file, name in named:
            path = ROOT / "tests" / file
            assert path.is_file(), shown
            assert name in names_in(path), shown


@pytest.mark.parametrize("page", PAGES)
def test_no_test_is_named_otherwise(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(TEST.findall(text)) == text.count("::test_")


def test_a_hole_is_reported_to_nobody_in_person() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "Report a vulnerability" in text
    assert not re.search(r"\S+@\S+\.\S+", text)

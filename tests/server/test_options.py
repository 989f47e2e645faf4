"""The table of options, as people get to see it."""

import re
from pathlib import Path

from scopa_server.bounds import SPARABLE
from scopa_server.options import OPTIONS, help_text, listed, markdown

DOCS = Path(__file__).parents[2] / "docs" / "hosts.md"


def test_help_shows_every_option_in_ascii() -> None:
    assert all(f"  {flag} {takes}\n" in help_text() for flag, takes, *_ in listed())
    assert help_text().isascii()
    assert max(map(len, help_text().splitlines())) <= 100


def test_the_docs_hold_the_options_as_they_are() -> None:
    page = DOCS.read_text(encoding="utf-8")
    _, _, rest = page.partition("<!-- options: begin -->\n")
    table, _, _ = rest.partition("<!-- options: end -->")
    # Put the output of `python -m scopa_server.options` between the marks.
    assert table.strip() == markdown().strip()


def test_the_docs_say_what_the_own_machine_is_spared() -> None:
    page = DOCS.read_text(encoding="utf-8")
    _, _, rest = page.partition("### The server's own machine\n")
    section, _, _ = rest.partition("\n#")
    spared = {option.flag for option in OPTIONS if option.field in SPARABLE}
    assert set(re.findall(r"--max-[a-z-]+", section)) == spared

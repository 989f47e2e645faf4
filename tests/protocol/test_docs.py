"""The exchange in docs/clients.md is one that the codec understands."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scopa_protocol.codec import JSON
from scopa_protocol.rules import Rules
from scopa_protocol.settings import Settings
from support.wire import COMMANDS, EVENTS, FRAMES, view

DOCS = Path(__file__).parents[2] / "docs"
CUT: dict[str, Any] = {
    '"view":{…}': view(),
    '"rules":{…}': Rules(),
    '"settings":{…}': Settings(),
    '"seats":[…]': [],
}
LINES = [
    line
    for block in re.findall(
        r"```text\n(.*?)```", (DOCS / "clients.md").read_text(encoding="utf-8"), re.DOTALL
    )
    for line in block.splitlines()
]


def whole(line: str) -> bytes:
    """A frame of the page with what was cut put back."""
    for cut, value in CUT.items():
        name = cut.split(":")[0]
        line = line.replace(cut, f"{name}:{msgspec.json.encode(value).decode()}")
    return line.encode()


def test_the_exchange_was_found() -> None:
    assert {line[0] for line in LINES} == {"<", ">"}


@pytest.mark.parametrize("line", [line[2:] for line in LINES if line[0] == ">"])
def test_the_server_would_take_it(line: str) -> None:
    assert json.loads(JSON.encode(JSON.decode_command(whole(line)))) == json.loads(line)


@pytest.mark.parametrize("line", [line[2:] for line in LINES if line[0] == "<"])
def test_the_server_would_say_it(line: str) -> None:
    frame = JSON.decode_frame(whole(line))
    assert msgspec.json.decode(JSON.encode(frame)) == json.loads(whole(line))


@pytest.mark.parametrize("one", [*COMMANDS, *FRAMES, *EVENTS], ids=lambda one: type(one).__name__)
def test_the_protocol_page_names_every_type(one: msgspec.Struct) -> None:
    page = (DOCS / "protocol.md").read_text(encoding="utf-8")
    assert f"`{one.__struct_config__.tag}`" in page


def test_links_between_pages_lead_somewhere() -> None:
    pages = [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *DOCS.glob("*.md")]
    targets = [
        (page.name, target)
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert targets == []

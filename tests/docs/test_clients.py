"""docs/clients.md leaves out nothing that a table waits for."""

from pathlib import Path

import pytest
from msgspec import structs

from scopa_protocol import commands as c
from scopa_protocol.views import View
from scopa_server.room.decide.commands import COMMANDS

PAGE = (Path(__file__).parents[2] / "docs/clients.md").read_text(encoding="utf-8")
ASKED = PAGE.split("## What a seat is asked")[1].split("\n## ")[0]
ROWS = [line.split("|")[1:-1] for line in ASKED.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize(
    "command",
    [command for command, row in COMMANDS.items() if row.stops_when_paused],
    ids=lambda command: command.__name__,
)
def test_every_move_of_the_game_is_told_to_client_authors(command: type[c.Command]) -> None:
    tag = command.__struct_config__.tag
    assert [row for row in ROWS if f"`{tag}`" in row[2]]


@pytest.mark.parametrize("asks", [row[0] for row in ROWS])
def test_the_view_has_what_asks_for_it(asks: str) -> None:
    field = asks.split("`")[1].split(".")[0]
    assert field in {known.name for known in structs.fields(View)}

"""The page for hosts names what there is."""

import re
from pathlib import Path

from scopa_server.metrics import Handed

PAGE = (Path(__file__).parents[2] / "docs" / "hosts.md").read_text(encoding="utf-8")


def test_every_outcome_of_a_handover_is_explained() -> None:
    table = PAGE.partition("| `outcome` |")[2].partition("\n\n")[0]
    named = [name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row)]
    assert sorted([Handed.DONE, *named]) == sorted(Handed)

"""A table of three that has played a deal, and what may be proposed there."""

import random
from typing import Any, Final

from scopa_protocol import commands as c
from scopa_protocol import events as told
from support.tables import Table, heard

RULES: Final[dict[str, Any]] = {"primiera": "off"}
PROPOSE: Final = c.Propose(rules=RULES)
YES: Final = c.Answer(proposal=1, agree=True)
NO: Final = c.Answer(proposal=1, agree=False)


def deal_over(players: int = 3, seed: int = 4, **rules: object) -> Table:
    """Anna, Bruno and Carla have played a deal."""
    asked = {"variant": "scopa", "players": players, "target": 50, **rules}
    return Table(seed=seed, **asked).start().deal_out(random.Random(seed))


def proposed() -> Table:
    """Bruno has proposed to count without primiera."""
    table = deal_over()
    table.do(1, PROPOSE)
    return table


def public(table: Table, seat: int | None, command: c.Command) -> list[told.RoomEvent]:
    """What everybody hears of a command."""
    before = table.room
    events = table.do(seat, command)
    return [item for _, item in heard(before, events, 0) if item is not None]

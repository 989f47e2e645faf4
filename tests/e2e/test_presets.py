"""Every preset, for every number of players, a random match each through real sockets."""

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK
from scopa_protocol.views import View
from scopa_server.rules.presets import PRESETS
from scopa_server.rules.record import SIDES
from support.front import front
from support.player import Player
from support.tables import NAMES


def tables() -> Iterator[Any]:
    """Every preset, with every number of players and sides."""
    for variant, preset in PRESETS.items():
        for players in preset.allowed_players:
            for sides in preset.allowed_sides or SIDES[players]:
                # A first card is chosen between two sides.
                if variant == "chkobba" and sides != 2:
                    continue
                yield pytest.param(variant, players, sides, id=f"{variant}-{players}-{sides}")


@pytest.mark.parametrize(("variant", "players", "sides"), [*tables()])
async def test_a_match_is_played_through_real_sockets(
    variant: str, players: int, sides: int
) -> None:
    async with front() as served:
        opened: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def person(seat: int) -> View:
            codec = MSGPACK if seat % 2 else JSON
            async with Player(served.url, codec=codec) as player:
                if seat == 0:
                    rules = {"variant": variant, "players": players, "sides": sides, "target": 1}
                    opened.set_result((await player.host(NAMES[0], **rules)).room)
                    while player.view and any(s.kind == "empty" for s in player.view.seats):
                        await player.receive()
                    await player.do(c.Start())
                else:
                    await player.join(await opened, NAMES[seat], seat=seat)
                return await player.play_on(random.Random(f"{variant} {players} {seat}"))

        views = await asyncio.gather(*map(person, range(players)))
    first = views[0]
    assert first.winner is not None
    assert first.count is not None
    assert len(first.sides) == sides
    counted = [card for side in first.count.sides for card in side.pile]
    assert len(set(counted)) == len(counted) <= 40
    assert {(view.seq, view.winner, str(view.matches)) for view in views} == {
        (first.seq, first.winner, str(first.matches))
    }

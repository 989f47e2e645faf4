"""What a client has asked for is stored, though its line is lost before the store has answered."""

import asyncio
import random

from scopa_protocol import commands as c
from support.front import Front, front, until
from support.player import Player
from support.tables import NAMES


async def seated(served: Front) -> list[Player]:
    """Four at a table, the first deal begun."""
    people = [Player(served.url) for _ in range(4)]
    for player in people:
        await player.__aenter__()
    code = (await people[0].host(NAMES[0])).room
    for seat in (1, 2, 3):
        await people[seat].join(code, NAMES[seat], seat=seat)
    await people[0].do(c.Start())
    for player in people:
        while player.view is None or not player.view.turn:
            await player.receive()
    return people


async def lose(served: Front, player: Player) -> None:
    """Cut a line, and wait until the server has noticed."""
    before = closed(served)
    player.socket.transport.abort()
    await until(lambda: closed(served) > before)


def closed(served: Front) -> float:
    """Connections that have ended at the server."""
    found = served.house.metrics.registry.get_sample_value("scopa_connections_open")
    return -(found or 0)


async def test_a_play_outlives_the_line_it_came_by() -> None:
    async with front() as served:
        people = await seated(served)
        (player,) = [each for each in people if each.view and each.view.options]
        others = [each for each in people if each is not player]
        gate = served.house.journal.gate
        gate.clear()
        play = player.choice(random.Random(1))
        await player.send(play)
        await until(lambda: served.house.journal.waiting == 1)
        await lose(served, player)
        gate.set()
        for other in others:
            async with asyncio.timeout(10):
                while not (other.view and other.view.turn > play.turn):
                    await other.receive()
        for other in others:
            await other.__aexit__(None, None, None)


async def test_a_seat_outlives_the_line_it_was_taken_by() -> None:
    async with front() as served, Player(served.url) as host:
        code = (await host.host(NAMES[0])).room
        async with Player(served.url) as guest:
            served.house.journal.gate.clear()
            await guest.send(c.Join(room=code, name=NAMES[1], seat=1))
            await until(lambda: served.house.journal.waiting == 1)
            await lose(served, guest)
            served.house.journal.gate.set()
        async with asyncio.timeout(10):
            while not (host.view and host.view.seats[1].kind == "person"):
                await host.receive()

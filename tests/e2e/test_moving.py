"""Running matches move from a SQLite file to Redis by the operator's own commands."""

import asyncio
import random
import subprocess
import sys
from pathlib import Path

from scopa_protocol import commands as c
from support.player import Player
from support.redis_server import RedisServer
from support.seated import parted
from support.server_process import Serve
from support.tables import NAMES

Seats = list[tuple[str, str]]
"""Each person's room and token."""


def rooms(*words: str) -> bytes:
    """What an operator's command prints; it goes well."""
    command = [sys.executable, "-m", "scopa_server", "rooms", *words]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=60).stdout


async def begin(url: str) -> tuple[Seats, list[tuple[object, ...]]]:
    """Two tables of two in the middle of a deal, and what everybody sees there."""
    seats: Seats = []
    views = []
    for number in range(2):
        people = [Player(url), Player(url)]
        for player in people:
            await player.__aenter__()
        code = (await people[0].host(NAMES[0], variant="scopa", players=2, target=2)).room
        await people[1].join(code, NAMES[1])
        await people[0].do(c.Start())
        until = 5 + number
        await asyncio.gather(*(p.play_on(random.Random(number), until=until) for p in people))
        seats += [(code, player.token or "") for player in people]
        views += [cards(player) for player in people]
        await parted(people)
    return seats, views


async def resumed(url: str, seats: Seats) -> list[Player]:
    """Everybody comes back."""
    people = [Player(url) for _ in seats]
    for player, (code, token) in zip(people, seats, strict=True):
        await player.__aenter__()
        await player.resume(code, token)
    return people


def cards(player: Player) -> tuple[object, ...]:
    """What somebody sees of the cards, and whose turn it is."""
    view = player.view
    assert view is not None
    return view.deal, view.turn, view.to_play, view.table, view.hand, view.sides, view.commitment


async def test_running_matches_move_to_redis(
    serve: Serve, redis: RedisServer, tmp_path: Path
) -> None:
    first = serve()
    seats, views = await begin(first.url)
    first.kill()
    exported = tmp_path / "rooms.jsonl"
    exported.write_bytes(await asyncio.to_thread(rooms, "export", "--store", first.store))
    told = await asyncio.to_thread(rooms, "import", str(exported), "--store", redis.url)
    assert {line.split()[0].decode() for line in told.splitlines()} == {code for code, _ in seats}
    people = await resumed(serve(name="second", store=redis.url).url, seats)
    assert [cards(player) for player in people] == views
    ends = await asyncio.gather(*(player.play_on(random.Random(1)) for player in people))
    assert all(view.winner is not None for view in ends)
    await parted(people)

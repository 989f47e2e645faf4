"""Real servers on a real Redis with a short clock: it runs out once, whoever is left to see it."""

import asyncio

from scopa_protocol import commands as c
from scopa_server.journal import open_journal
from scopa_server.room import events as e
from support.player import Player
from support.redis_server import RedisServer
from support.seated import parted
from support.server_process import Serve
from support.tables import NAMES


async def stored(url: str, code: str) -> list[e.LogEvent]:
    """Every event in a room's log."""
    journal = await open_journal(url)
    commits = await journal.read(code)
    await journal.close()
    return [event for commit in commits for event in e.read_events(commit.payload)]


async def turn(player: Player, number: int) -> None:
    """Wait until somebody sees that turn, or a later one."""
    while player.view is None or player.view.turn < number:
        await player.receive()


async def ran_out_in_turn(store: str, room: str, first: int, *, at_least: int) -> None:
    """All turns so far have run out, each once and in turn, from a seat on."""
    log = await stored(store, room)
    seats = [event.seat for event in log if isinstance(event, e.StoodIn)]
    assert len(seats) >= at_least
    assert seats == [(first + number) % 4 for number in range(len(seats))]
    played = [event.play.seat for event in log if isinstance(event, e.Played)]
    assert len(played) >= at_least
    assert played == seats[: len(played)]


async def test_of_two_servers_one_lets_a_turn_run_out_and_then_the_other(
    serve: Serve, redis: RedisServer
) -> None:
    servers = [serve(name=name, store=redis.url) for name in ("one", "other")]
    people = [Player(servers[seat % 2].url) for seat in range(4)]
    for player in people:
        await player.__aenter__()
    code = (await people[0].host(NAMES[0])).room
    for seat in (1, 2, 3):
        await people[seat].join(code, NAMES[seat], seat=seat)
    await people[0].do(c.Configure(settings={"turn_seconds": 5}))
    await people[0].do(c.Start())
    first = people[0].view
    assert first is not None
    assert first.to_play is not None
    await asyncio.gather(*(turn(player, 2) for player in people))
    await ran_out_in_turn(redis.url, code, first.to_play, at_least=1)

    servers[0].kill()
    await asyncio.gather(*(turn(people[seat], 3) for seat in (1, 3)))
    await ran_out_in_turn(redis.url, code, first.to_play, at_least=2)
    await parted(people)

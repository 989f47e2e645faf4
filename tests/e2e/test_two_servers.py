"""Two servers on one store: people of one table on both, and one of them killed."""

import asyncio
import random

from scopa_protocol import commands as c
from scopa_protocol.frames import Update
from scopa_protocol.views import View
from support.player import Player
from support.redis_server import RedisServer
from support.server_process import Serve, ServerProcess
from support.tables import NAMES


async def test_a_match_goes_on_when_one_of_two_servers_is_killed(serve: Serve, shared: str) -> None:
    await play([serve(name=name, store=shared) for name in ("one", "other")])


async def test_a_room_is_full_at_both_and_after_a_restart(serve: Serve, redis: RedisServer) -> None:
    limit = ("--max-changes-per-room", "100")
    one, other = (serve(*limit, name=name, store=redis.url) for name in ("one", "other"))
    async with Player(one.url) as anna, Player(other.url) as bruno:
        code = (await anna.host("Anna", variant="scopa", players=2)).room
        await bruno.join(code, "Bruno")
        pace = 0
        while isinstance(await anna.do(c.Configure(settings={"pace_ms": pace})), Update):
            pace += 1
        assert seen(anna).seq == 100
        assert await bruno.error(c.Say(text="ciao")) == "room_full"
        token = anna.token or ""
    one.kill()
    one.start()
    async with Player(one.url) as anna:
        assert (await anna.resume(code, token)).view.seq == 100
        assert await anna.error(c.Start()) == "room_full"
        assert isinstance(await anna.do(c.Leave()), Update)


async def play(servers: list[ServerProcess]) -> None:
    """Play a match with people on both servers; the second dies in the first deal."""
    one, other = servers
    people = [Player((one, other)[seat % 2].url) for seat in range(4)]
    tokens: dict[int, str] = {}
    code = ""
    for seat, player in enumerate(people):
        await player.__aenter__()
        joined = await (
            player.join(code, NAMES[seat], seat=seat) if code else player.host(NAMES[seat])
        )
        code, tokens[seat] = joined.room, player.token or ""
    while any(seat.kind == "empty" for seat in seen(people[0]).seats):
        await people[0].receive()
    await people[0].do(c.Start())
    await asyncio.gather(*(played_on(player, seat, until=7) for seat, player in enumerate(people)))

    other.kill()
    for seat in (1, 3):
        people[seat] = Player(one.url)
        await people[seat].__aenter__()
        await people[seat].resume(code, tokens[seat])
    assert {seen(player).turn for player in people} >= {7}
    views = await asyncio.gather(*(played_on(player, seat) for seat, player in enumerate(people)))
    assert len({(view.seq, view.winner, str(view.matches)) for view in views}) == 1
    for player in people:
        await player.__aexit__(None, None, None)


def seen(player: Player) -> View:
    """What somebody sees."""
    assert player.view is not None
    return player.view


async def played_on(player: Player, seat: int, until: int | None = None) -> View:
    """Let somebody play at random."""
    return await player.play_on(random.Random(seat), until=until)

"""Limits of a room and of an address that several servers on one store keep together."""

import asyncio
from collections.abc import Sequence

from scopa_protocol import commands as c
from scopa_protocol.codes import CloseCode
from scopa_protocol.frames import Pong
from support.player import PATIENCE, Player
from support.redis_server import RedisServer
from support.server_process import Serve, ServerProcess


def two(serve: Serve, redis: RedisServer, *options: str) -> list[ServerProcess]:
    """Servers on one store."""
    return [serve(*options, name=name, store=redis.url) for name in ("one", "other")]


async def held(room: str, token: str, servers: Sequence[ServerProcess]) -> list[Player]:
    """Connections of one seat, one after the other."""
    players: list[Player] = []
    for server in servers:
        players.append(await Player(server.url).__aenter__())
        await players[-1].resume(room, token)
    return players


async def closed(players: Sequence[Player]) -> None:
    """Read on until the connections are closed, as replaced."""
    async with asyncio.timeout(PATIENCE):
        for player in players:
            await player.socket.wait_closed()
            assert player.socket.close_code == CloseCode.REPLACED


async def still_there(players: Sequence[Player]) -> None:
    """See that connections are open and heard."""
    for player in players:
        pong = await player.do(c.Ping())
        assert isinstance(pong, Pong)
        assert pong.seq is not None


async def test_a_seat_is_held_by_the_newest_four_of_both_servers(
    serve: Serve, redis: RedisServer
) -> None:
    one, other = two(serve, redis)
    async with Player(one.url) as anna:
        room = (await anna.host("Anna")).room
        players = [anna, *await held(room, anna.token or "", [one, other, other])]
        await still_there(players)
        players += await held(room, anna.token or "", [other])
        await closed(players[:1])
        await still_there(players[1:])
        players += await held(room, anna.token or "", [one, other, other])
        await closed(players[:4])
        await still_there(players[4:])
        for player in players:
            await player.socket.close()


async def test_connections_of_a_killed_server_make_way_for_no_others(
    serve: Serve, redis: RedisServer
) -> None:
    one, other = two(serve, redis)
    async with Player(one.url) as anna:
        room = (await anna.host("Anna")).room
        players = [anna, *await held(room, anna.token or "", [one])]
        await held(room, anna.token or "", [other, other])
        other.kill()
        players += await held(room, anna.token or "", [one, one])
        await still_there(players)
        players += await held(room, anna.token or "", [one])
        await closed(players[:1])
        await still_there(players[1:])
        for player in players:
            await player.socket.close()

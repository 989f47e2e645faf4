"""Limits of a room and of an address that several servers on one store keep together."""

import asyncio
from collections.abc import Sequence
from typing import Final

from scopa_protocol import commands as c
from scopa_protocol.codes import CloseCode
from scopa_protocol.frames import Error, Pong
from scopa_server.journal import open_journal
from support.player import PATIENCE, Player
from support.redis_server import RedisServer
from support.server_process import Serve, ServerProcess
from support.workers import spread


def two(serve: Serve, store: str, *options: str) -> list[ServerProcess]:
    """Servers on one store."""
    return [serve(*options, name=name, store=store) for name in ("one", "other")]


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
    one, other = two(serve, redis.url)
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
    one, other = two(serve, redis.url)
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


NOWHERE: Final = c.Look(room="ABCDEFGH")
FREE: Final = 6


async def guess(players: Sequence[Player]) -> None:
    """Guess on these connections in turn until there is a wait.

    What is heard of it elsewhere is a matter of moments, so somebody quick has a try more at most;
    counted apart it would be as many again.
    """
    found: list[str] = []
    while "too_fast" not in found:
        found.append(await players[len(found) % len(players)].error(NOWHERE))
        await asyncio.sleep(0.02)
    assert set(found[:-1]) == {"unknown_room"}
    assert FREE <= len(found[:-1]) < 2 * FREE


async def test_wrong_guesses_at_two_servers_are_counted_together(serve: Serve, shared: str) -> None:
    one, other = two(serve, shared, "--max-failures-per-address", str(FREE))
    async with Player(one.url) as anna, Player(one.url) as here, Player(other.url) as there:
        room = (await anna.host("Anna")).room
        await guess([here, there])
        for guesser in (here, there):
            async with asyncio.timeout(PATIENCE):  # one of them may be about to hear of the last
                while not isinstance(answer := await guesser.do(c.Look(room=room)), Error):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            assert answer.code == "too_fast"
        await there.resume(room, anna.token or "")


async def test_wrong_guesses_at_two_workers_are_counted_together(
    serve: Serve, redis: RedisServer
) -> None:
    options = ("--workers", "2", "--max-failures-per-address", str(FREE))
    there = await spread(serve(*options, store=redis.url), 1)
    guessers = [player for players in there.values() for player in players]
    await guess(guessers)
    for guesser in guessers:
        await guesser.socket.close()


async def test_what_servers_tell_one_another_names_no_address_or_room(
    serve: Serve, redis: RedisServer
) -> None:
    one, _ = two(serve, redis.url)
    journal = await open_journal(redis.url)
    async with journal.published() as published, Player(one.url) as guesser:
        assert await guesser.error(NOWHERE) == "unknown_room"
        async with asyncio.timeout(PATIENCE):
            words = await anext(aiter(published))
    await journal.close()
    for secret in (b"127.0.0", bytes((127, 0, 0, 1)), NOWHERE.room[:4].encode()):
        assert secret not in words

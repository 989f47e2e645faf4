"""The people of a table come to one worker, whatever becomes of workers meanwhile."""

import asyncio
import os
import random
from collections.abc import Sequence
from contextlib import suppress
from signal import SIGCONT, SIGKILL, SIGSTOP, SIGTERM

from websockets.exceptions import ConnectionClosed

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK
from scopa_protocol.frames import Bye, Joined, RoomFrame
from scopa_server.gateway.homes import home
from support.player import Player
from support.redis_server import RedisServer
from support.server_process import Serve, ServerProcess
from support.tables import NAMES, token
from support.workers import TWO, becomes, connected, counted, pids, spread

OPEN = "scopa_connections_open"


def handed(server: ServerProcess, outcome: str) -> float:
    """How many handovers ended so, at all workers."""
    return sum(counted(server, "scopa_handovers_total", f'outcome="{outcome}"').values())


async def looked(server: ServerProcess, code: str, times: int) -> list[Player]:
    """So many new connections, each of which looks at a room."""
    players = [await Player(server.url).__aenter__() for _ in range(times)]
    for player in players:
        assert isinstance(await player.do(c.Look(room=code)), RoomFrame)
    return players


async def play(people: Sequence[Player], until: int | None = None) -> None:
    """Play on; all must see the same in the end."""
    chances = [random.Random(seat) for seat in range(4)]
    pairs = zip(people, chances, strict=True)
    views = await asyncio.gather(*(player.play_on(r, until=until) for player, r in pairs))
    assert until or len({(view.seq, view.winner) for view in views}) == 1


async def left(people: Sequence[Player]) -> None:
    """Let connections go."""
    for player in people:
        await player.socket.close()


async def test_a_table_comes_together_and_does_again_when_its_worker_is_killed(
    serve: Serve, redis: RedisServer
) -> None:
    server = serve(*TWO, "--log-level", "debug", store=redis.url)
    people = [
        await Player(server.url, codec=MSGPACK if seat % 2 else JSON).__aenter__()
        for seat in range(4)
    ]
    code = (await people[0].host(NAMES[0])).room
    for seat in (1, 2, 3):
        await people[seat].join(code, NAMES[seat], seat=seat)
    others = await looked(server, code, 20)
    at = home(code, 2)
    assert counted(server, OPEN) == {at: 24, 3 - at: 0}
    assert counted(server, "scopa_rooms_live") == {at: 1, 3 - at: 0}
    assert sum(counted(server, "scopa_connections_total").values()) == 24
    # The system spreads connections: of so many some came to either worker.
    assert handed(server, "done") > 0
    await people[0].do(c.Start())
    await play(people, until=7)
    assert all(player.token and player.token not in server.log for player in people)

    os.kill(pids(server)[at], SIGKILL)
    for player in (*people, *others):
        await player.socket.wait_closed()
    again = [await connected(server) for _ in people]
    for player, before in zip(again, people, strict=True):
        await player.resume(code, before.token or "")
    await play(again)

    await becomes(server, "scopa_worker_up", {1: 1, 2: 1})
    done = handed(server, "done")
    others = await looked(server, code, 20)
    # The new life and the other worker know each other.
    assert handed(server, "done") > done
    await left([*again, *others])
    await becomes(server, OPEN, {1: 0, 2: 0})


async def test_a_worker_that_hangs_keeps_nobody_waiting(serve: Serve, redis: RedisServer) -> None:
    server = serve(*TWO, store=redis.url)
    there = await spread(server, 2)
    code = (await there[1][0].host(NAMES[0])).room
    assert home(code, 2) == 1
    os.kill(pids(server)[1], SIGSTOP)
    try:
        for seat, player in enumerate(there[2], start=1):
            await player.join(code, NAMES[seat], seat=seat)
    finally:
        os.kill(pids(server)[1], SIGCONT)
    await there[1][1].join(code, NAMES[3], seat=3)
    people = [there[1][0], *there[2], there[1][1]]
    await people[0].do(c.Start())
    await play(people)
    assert handed(server, "slow") == 2
    assert counted(server, OPEN) == {1: 2, 2: 2}
    await left(people)


async def test_where_a_table_s_worker_is_full_it_is_played_at_two(
    serve: Serve, redis: RedisServer
) -> None:
    server = serve(*TWO, "--max-connections", "3", store=redis.url)
    there = await spread(server, 2)
    people = [there[1][0], there[2][0], there[1][1], there[2][1]]
    code = (await people[0].host(NAMES[0])).room
    for seat in (1, 2, 3):
        await people[seat].join(code, NAMES[seat], seat=seat)
    assert handed(server, "done") == handed(server, "full") == 1
    assert counted(server, OPEN) == {1: 3, 2: 1}
    await people[0].do(c.Start())
    await play(people)
    await left(people)


async def test_a_worker_killed_while_connections_come_costs_nobody_a_seat(
    serve: Serve, redis: RedisServer
) -> None:
    server = serve(*TWO, store=redis.url)
    for round_ in range(4):
        there = await spread(server, 2)
        at = 1 + round_ % 2
        host, *others = (*there[at], *there[3 - at])
        code = (await host.host(NAMES[0])).room
        joins = [
            c.Join(room=code, name=NAMES[seat], seat=seat, token=token(seat)) for seat in (1, 2, 3)
        ]
        pairs = list(zip(others, joins, strict=True))
        for player, join in pairs:
            await player.send(join)
        await asyncio.sleep(0.002 * round_)
        os.kill(pids(server)[at], SIGKILL)
        seats = [await seated(server, player, join) for player, join in pairs]
        assert seats == [1, 2, 3]
        await becomes(server, "scopa_worker_up", {1: 1, 2: 1})


async def seated(server: ServerProcess, player: Player, join: c.Join) -> int | None:
    """The seat that a join sent before leads to; who is cut off meanwhile comes back for it."""
    try:
        joined = await first(player, 1)
    except ConnectionClosed:
        player = await connected(server)
        joined = await player.do(join)
    assert isinstance(joined, Joined)
    await player.socket.close()
    return joined.seat


async def first(player: Player, number: int) -> object:
    """The answer to a command."""
    while True:
        frame = await player.receive()
        if getattr(frame, "re", None) == number:
            return frame


async def test_a_server_that_stops_while_connections_move_tells_everybody(
    serve: Serve, redis: RedisServer
) -> None:
    server = serve(*TWO, store=redis.url)
    there = await spread(server, 2)
    codes = [(await there[number][0].host(NAMES[0])).room for number in (1, 2)]
    crowd = [await Player(server.url).__aenter__() for _ in range(20)]
    wandering = [asyncio.create_task(wander(player, codes)) for player in crowd]
    while handed(server, "done") < 20:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    server.send(SIGTERM)
    ends = await asyncio.gather(*wandering)
    assert await asyncio.to_thread(server.wait) == 0
    assert ends == [1012] * len(crowd)
    for player in crowd:
        assert isinstance(player.frames[-1], Bye)
        answers = [getattr(frame, "re", None) for frame in player.frames[1:-1]]
        assert answers == list(range(1, len(answers) + 1))
    assert "fault" not in server.log


async def wander(player: Player, codes: Sequence[str]) -> int | None:
    """Look at one room after the other, one command under way; the code of the close."""
    try:
        for number in range(1_000_000):
            await player.do(c.Look(room=codes[number % 2]))
    except ConnectionClosed:
        with suppress(ConnectionClosed):
            while True:
                await player.receive()
    return player.socket.close_code

"""The store's master is killed in mid-match, and a replica takes its place: people play on."""

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from scopa_protocol import commands as c
from scopa_protocol.frames import Error
from scopa_protocol.views import View
from scopa_server.journal.scripts import log_key, slot_of
from support.player import Player
from support.redis_cluster import RedisCluster
from support.redis_sentinel import RedisSentinel
from support.redis_server import programs
from support.server_process import Serve, ServerProcess
from support.tables import NAMES

KIND = min(programs())
GONE = {"stale", "not_your_turn", "not_in_hand", "not_on_table", "must_capture", "illegal_capture"}
"""Why a play is refused that fits what was shown last, and is gone with the old master."""


class Watched:
    """A store watched over by Sentinel."""

    def __init__(self, folder: Path) -> None:
        self.store = RedisSentinel(programs()[KIND], folder)

    def kill_master_of(self, room: str) -> None:
        """Kill the server that has a room."""
        self.store.kill_master()


class Spread:
    """A cluster whose masters have replicas."""

    def __init__(self, folder: Path) -> None:
        self.store = RedisCluster(programs()[KIND], folder, replicas=True)

    def kill_master_of(self, room: str) -> None:
        """Kill the server that has a room."""
        self.store.kill(self.store.number_of(slot_of(room)))


@pytest.fixture(params=[Watched, Spread])
def replicated(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Watched | Spread]:
    made: Watched | Spread = request.param(tmp_path / "store")
    try:
        made.store.start()
        yield made
    finally:
        made.store.stop()


async def test_a_match_goes_on_at_the_replica(serve: Serve, replicated: Watched | Spread) -> None:
    server = serve(store=replicated.store.url)
    await a_match(server, replicated.kill_master_of)


async def test_a_match_goes_on_where_sentinel_says_though_the_old_master_is_well(
    serve: Serve, tmp_path: Path
) -> None:
    store = RedisSentinel(programs()[KIND], tmp_path / "store")
    try:
        store.start()
        view = await a_match(serve(store=store.url), lambda _: store.replace_master())
        log = log_key(view.room)
        assert store.replica.ask("XLEN", log) == f":{view.seq}\r\n".encode()
        assert b"master" in store.master.ask("ROLE")
        assert store.master.ask("XLEN", log) != f":{view.seq}\r\n".encode()
    finally:
        store.stop()


async def a_match(server: ServerProcess, interrupt: Callable[[str], None]) -> View:
    """Four people play, something happens to the store of their room, and they play to the end.

    What the last of them sees.
    """
    async with AsyncExitStack() as stack:
        people = [await stack.enter_async_context(Player(server.url)) for _ in range(4)]
        code = (await people[0].host(NAMES[0])).room
        for seat in (1, 2, 3):
            await people[seat].join(code, NAMES[seat], seat=seat)
        await people[0].do(c.Start())
        await asyncio.gather(*(plays(player, seat, until=9) for seat, player in enumerate(people)))
        interrupt(code)
        views = await asyncio.gather(*(plays(player, seat) for seat, player in enumerate(people)))
    assert len({(view.seq, view.winner, str(view.matches)) for view in views}) == 1
    assert not [entry for entry in server.entries if "exception" in entry]
    return views[-1]


async def plays(player: Player, seat: int, until: int | None = None) -> View:
    """Play at random, and again what the store could not take."""
    chance = random.Random(seat)
    while True:
        view = player.view
        assert view is not None
        if view.phase == "match_over" or (until is not None and view.turn >= until):
            return view
        move = player.next_move(chance)
        if move is None:
            await player.receive()
        elif isinstance(answer := await player.do(move), Error):
            assert answer.code == "storage_unavailable" or answer.code in GONE, answer
            await asyncio.sleep(0.05)

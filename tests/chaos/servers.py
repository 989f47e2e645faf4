"""Faults of server processes: killed, stopped and woken, ended in order, their clocks stepped."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from signal import SIGCONT, SIGSTOP, SIGTERM, SIGUSR1, SIGUSR2
from time import monotonic
from typing import Final

from scopa_protocol import commands as c
from scopa_protocol.frames import Joined, Update
from scopa_server.journal.interface import Commit
from scopa_server.room.events import LogEvent, Played, read_events
from support.player import Player
from support.server_process import ServerProcess

from .scene import Fault, Scene
from .table import Table

AHEAD: Final = (
    b"time[1] * 1000 + math.floor(time[2] / 1000)",
    b"time[1]*1e3+36e5+math.floor(time[2] / 1000)",
)
BUSY: Final = 50
"""Plays a second at which a server is to end in order."""
MOST_TABLES: Final = 4
"""So many times the tables there are otherwise."""
TURN_SECONDS: Final = 600
BACK: Final = (AHEAD[0], AHEAD[1].replace(b"+36e5", b"-36e5"))


async def kill_each_server(scene: Scene) -> None:
    """Each server in turn is killed, and started again once everybody plays at the other."""
    for server in scene.stage.servers:
        await scene.strike(server.kill)
        if len(scene.stage.servers) > 1:
            await scene.recover()
        await scene.stage.start(server)
        await scene.recover()
        await scene.go_on()


async def stop_one(scene: Scene) -> None:
    """One server is stopped, and wakes among people who went on elsewhere."""
    server = scene.stage.servers[0]
    await scene.strike(server.send, SIGSTOP)
    try:
        await scene.recover()
        await scene.lasts(scene.scale.stopped)
    finally:
        server.send(SIGCONT)


async def end_in_order(scene: Scene) -> None:
    """SIGTERM at fifty plays a second, or all that the machine can: the server ends with status 0.

    There are more and more tables, until they are that many or there is no more to be had.
    """
    for table in scene.tables:
        await hurry(scene, table)
    rate = await plays_a_second(scene)
    while rate < BUSY and len(scene.tables) < MOST_TABLES * scene.scale.tables:
        scene.tables += await scene.stage.tables(scene.scale.tables)
        for table in scene.tables[-scene.scale.tables :]:
            await hurry(scene, table)
        rate = await plays_a_second(scene)
    short = "" if rate >= BUSY else f", not {BUSY}: this machine is too busy"
    tables = len(scene.tables)
    scene.note(f"{rate:.0f} plays a second at {tables} tables when SIGTERM came{short}")
    server = scene.stage.servers[0]
    await scene.strike(server.send, SIGTERM)
    assert await asyncio.to_thread(server.wait) == 0
    if len(scene.stage.servers) == 1:
        await scene.stage.start(server)
    await scene.recover()
    if not server.running:
        await scene.stage.start(server)


async def plays_a_second(scene: Scene) -> float:
    """How many plays all tables make, people's and bots', read from their logs."""
    begun, before = monotonic(), await plays(scene)
    for _ in range(scene.scale.plays * 4):
        await scene.go_on()
    seconds = monotonic() - begun
    return (await plays(scene) - before) / seconds


async def plays(scene: Scene) -> int:
    """How many plays there are in the logs of all tables."""
    logs = [await scene.stage.log(table.code) for table in scene.tables]
    return sum(isinstance(event, Played) for log in logs for event in events_of(log))


def events_of(log: Sequence[Commit]) -> Iterator[LogEvent]:
    """Everything that a log says."""
    for commit in log:
        yield from read_events(commit.payload)


async def hurry(scene: Scene, table: Table) -> None:
    """Let people and bots of a table think about nothing."""
    for person in table.people:
        person.think = 0
    await configure(scene, table, pace_ms=0)


async def configure(scene: Scene, table: Table, **settings: object) -> None:
    """Let the host of a table change how it is played."""
    async with Player(scene.stage.urls[0]) as host:
        assert isinstance(await host.do(table.resume(0)), Joined)
        assert isinstance(await host.do(c.Configure(settings=settings)), Update)


async def limit_turns(scene: Scene) -> None:
    """Let every turn have a clock; nobody may ever see that an hour of it is used up."""
    for table in scene.tables:
        await configure(scene, table, turn_seconds=TURN_SECONDS)


def no_turn_was_used_up(scene: Scene) -> None:
    """Nobody takes long here, so every clock that was shown had nearly all its time left."""
    for table in scene.tables:
        assert table.least_seconds > TURN_SECONDS / 10, f"{table.least_seconds} s were left"


async def step_clocks(scene: Scene) -> None:
    """The servers' clocks, then the store's as scripts see it, an hour on, back, and back again.

    When the store's is right again, all servers die at once: no clock of a turn is used up.
    """
    await limit_turns(scene)
    for number in (SIGUSR1, SIGUSR2, SIGUSR2, SIGUSR1):
        for server in scene.stage.servers:
            await scene.strike(server.send, number)
        await scene.recover()
    for hours, step in ((1, AHEAD), (0, None), (-1, BACK), (0, None)):
        scene.begin()
        for link in scene.stage.links:
            link.replaced = step
            # Scripts are loaded anew with each connection.
            link.cut()
        await scene.recover()
        await scene.go_on()
        assert await hours_ahead(scene) == hours
        if step is None:
            await kill_all_servers(scene)
    no_turn_was_used_up(scene)


async def kill_all_servers(scene: Scene) -> None:
    """All servers are killed at once, and started again."""
    scene.begin()
    for server in scene.stage.servers:
        server.kill()
    for server in scene.stage.servers:
        await scene.stage.start(server)
    await scene.recover()


async def hours_ahead(scene: Scene) -> int:
    """By how much the store's newest time is wrong."""
    log = await scene.stage.log(scene.tables[0].code)
    return round((log[-1].at / 1000 - time.time()) / 3600)


async def step_one_clock(scene: Scene) -> None:
    """One server's clock goes an hour off, and it is killed and started with the true time."""
    server: ServerProcess = scene.stage.servers[0]
    await limit_turns(scene)
    for hours, number in ((1, SIGUSR1), (-1, SIGUSR2)):
        await scene.strike(server.send, number)
        await scene.recover()
        assert await hours_ahead(scene) == hours
        await scene.strike(server.kill)
        await scene.stage.start(server)
        await scene.recover()
    no_turn_was_used_up(scene)


FAULTS: Final = (
    Fault("server killed, each in turn", kill_each_server),
    Fault("server stopped and woken", stop_one),
    Fault("server ended in order", end_in_order),
    Fault("clocks an hour on and back", step_clocks),
    Fault("killed (SQLite)", kill_each_server, sqlite=True, again=True),
    Fault("ended in order (SQLite)", end_in_order, sqlite=True, again=True),
    Fault("clock stepped, then killed (SQLite)", step_one_clock, sqlite=True),
)

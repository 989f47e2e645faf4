"""Faults of server processes: killed, stopped and woken, ended in order, their clocks stepped."""

import asyncio
import time
from signal import SIGCONT, SIGSTOP, SIGTERM, SIGUSR1, SIGUSR2
from time import monotonic
from typing import Final

from scopa_protocol import commands as c
from scopa_protocol.frames import Joined, Update
from support.player import Player
from support.server_process import ServerProcess

from .scene import Fault, Scene
from .table import Table

AHEAD: Final = (
    b"time[1] * 1000 + math.floor(time[2] / 1000)",
    b"time[1]*1e3+36e5+math.floor(time[2] / 1000)",
)
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
    """SIGTERM at fifty plays a second and more: the server ends with status 0."""
    for table in scene.tables:
        await hurry(scene, table)
    server = scene.stage.servers[0]
    begun, before = monotonic(), sum(table.top for table in scene.tables)
    for _ in range(scene.scale.plays * 4):
        await scene.go_on()
    made = sum(table.top for table in scene.tables) - before
    scene.note(f"{made / (monotonic() - begun):.0f} commits a second when SIGTERM came")
    await scene.strike(server.send, SIGTERM)
    assert await asyncio.to_thread(server.wait) == 0
    if len(scene.stage.servers) == 1:
        await scene.stage.start(server)
    await scene.recover()
    if not server.running:
        await scene.stage.start(server)


async def hurry(scene: Scene, table: Table) -> None:
    """Let people and bots of a table think about nothing."""
    for person in table.people:
        person.think = 0
    async with Player(scene.stage.urls[0]) as host:
        assert isinstance(await host.do(table.resume(0)), Joined)
        assert isinstance(await host.do(c.Configure(settings={"pace_ms": 0})), Update)


async def step_clocks(scene: Scene) -> None:
    """The servers' clocks, then the store's as scripts see it, an hour on, back, and back again."""
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


async def hours_ahead(scene: Scene) -> int:
    """By how much the store's newest time is wrong."""
    log = await scene.stage.log(scene.tables[0].code)
    return round((log[-1].at / 1000 - time.time()) / 3600)


async def step_one_clock(scene: Scene) -> None:
    """One server's clock goes an hour off, and it is killed and started with the true time."""
    server: ServerProcess = scene.stage.servers[0]
    for hours, number in ((1, SIGUSR1), (-1, SIGUSR2)):
        await scene.strike(server.send, number)
        await scene.recover()
        assert await hours_ahead(scene) == hours
        await scene.strike(server.kill)
        await scene.stage.start(server)
        await scene.recover()


FAULTS: Final = (
    Fault("server killed, each in turn", kill_each_server),
    Fault("server stopped and woken", stop_one),
    Fault("server ended in order", end_in_order),
    Fault("clocks an hour on and back", step_clocks),
    Fault("killed (SQLite)", kill_each_server, sqlite=True, again=True),
    Fault("ended in order (SQLite)", end_in_order, sqlite=True, again=True),
    Fault("clock stepped, then killed (SQLite)", step_one_clock, sqlite=True),
)

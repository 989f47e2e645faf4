"""Nothing stays open of a connection that the other side, or this one, has ended."""

import asyncio
import os
import socket
import stat
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from scopa_server.journal.link import Links
from scopa_server.journal.redis import link_to
from scopa_server.loop import fastest
from server.journal.conftest import REDIS_KINDS
from support.fault_proxy import FaultProxy
from support.redis_server import RedisServer

PING = [("PING",)]
IDLE = 8
End: TypeAlias = Callable[[FaultProxy], None]
Run: TypeAlias = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=[asyncio.new_event_loop, fastest()], ids=["asyncio", "fastest"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs on each event loop that a server may have."""

    def on_loop(work: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(work)

    return on_loop


def sockets() -> int:
    """How many sockets this process has open, whether or not the system lists them."""
    found = 0
    for number in Path("/dev/fd").iterdir():
        with suppress(OSError):
            found += stat.S_ISSOCK(os.fstat(int(number.name)).st_mode)
    return found


async def until_left(count: int) -> None:
    """Wait until so many sockets are left."""
    async with asyncio.timeout(60):
        while sockets() != count:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


def half_close_and_cut(proxy: FaultProxy) -> None:
    """The end, and at once a reset, which nobody hears who has heard the end."""
    proxy.half_close()
    proxy.cut()


async def use_all(links: Links) -> None:
    """Ask over every connection there may be: each question in a turn of the loop of its own."""
    asking: list[asyncio.Task[Any]] = []
    for _ in range(IDLE):
        asking.append(asyncio.create_task(links.ask(PING)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    await asyncio.gather(*asking)


async def fill_and_end(port: int, end: End) -> None:
    """Connections that wait for their next use are ended by the other side, again and again."""
    async with FaultProxy(port) as proxy:
        before = sockets()
        links = Links(lambda: link_to(proxy.url), IDLE)
        for _ in range(3):
            await use_all(links)
            assert sockets() >= before + IDLE
            end(proxy)
            await until_left(before)
        assert await links.ask(PING) == [b"PONG"]
        await links.close()
        await until_left(before)


@pytest.mark.parametrize("end", [FaultProxy.cut, FaultProxy.half_close, half_close_and_cut])
def test_what_the_store_ended_is_not_kept(
    run: Run, redis_servers: dict[str, RedisServer], end: End
) -> None:
    run(fill_and_end(redis_servers[REDIS_KINDS[0]].port, end))


async def drop_unread() -> None:
    """What was sent waits for a store that takes nothing any more."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        link = link_to(f"redis://127.0.0.1:{server.getsockname()[1]}/0")
        opening = asyncio.create_task(link.open())
        store, _ = await asyncio.to_thread(server.accept)
        with store:
            store.sendall(b"+OK\r\n" * 2)
            await opening
            before = sockets()
            sending = asyncio.create_task(link.send([("SET", "much", b"x" * (1 << 26))]))
            await asyncio.to_thread(store.recv, 1)
            sending.cancel()
            await asyncio.wait([sending])
            await link.drop()
            await until_left(before - 1)


def test_what_is_dropped_waits_for_nobody(run: Run) -> None:
    run(drop_unread())


async def ask_where_all_are_dead(port: int) -> None:
    """Several connections are dead, and nobody has said so: one question is enough to know."""
    async with FaultProxy(port) as proxy:
        links = Links(lambda: link_to(proxy.url), IDLE)
        before = sockets()
        await use_all(links)
        assert sockets() >= before + IDLE
        proxy.black_hole(new_ones=False)
        assert await links.ask(PING) == [b"PONG"]
        await links.close()
        proxy.heal()


def test_one_that_is_dead_speaks_for_all(
    run: Run, redis_servers: dict[str, RedisServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scopa_server.journal.redis._ANSWER_SECONDS", 1.0)
    run(ask_where_all_are_dead(redis_servers[REDIS_KINDS[0]].port))

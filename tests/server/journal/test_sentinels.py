"""Sentinels that don't answer keep nobody from those that do; who is master is kept right."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from scopa_server.journal.link import Broken
from scopa_server.journal.places import Address, read_place
from scopa_server.journal.scripts import Command
from scopa_server.journal.sentinels import Sentinels

PATIENCE = 30


class Town:
    """What all sentinels know, and what was asked of them.

    `said`: what they tell who listens; an exception ends that connection.
    """

    def __init__(self) -> None:
        self.master = "master"
        self.reached: list[str] = []
        self.said: asyncio.Queue[Exception | None] = asyncio.Queue()

    def link_to(self, url: str) -> "Asked":
        return Asked(url, self)


class Asked:
    """A link to a sentinel that answers, or to one that is never reached."""

    def __init__(self, url: str, town: Town) -> None:
        self._dead = "dead" in url
        self._url = url
        self._town = town

    async def open(self) -> None:
        self._town.reached.append(self._url.split("/")[2])
        if self._dead:
            await asyncio.Event().wait()

    async def send(self, commands: Sequence[Command]) -> None:
        pass

    async def receive(self, count: int) -> list[Any]:
        return [[self._town.master.encode(), b"6379"]]

    async def listen(self, seconds: float) -> Any:
        said = await self._town.said.get()
        if said is not None:
            raise said

    async def drop(self) -> None:
        pass


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_who_was_asked_in_vain_is_asked_last() -> None:
    town = Town()
    sentinels = Sentinels(read_place("redis+sentinel://dead1,dead2,alive/scopa"), town.link_to)
    # Whoever asks has no time for more than one that is silent.
    for number in (1, 2):
        asking = asyncio.create_task(sentinels.master())
        await _until(lambda number=number: len(town.reached) == number)  # type: ignore[misc]
        asking.cancel()
        await asyncio.wait([asking])
    for _ in range(2):
        assert await sentinels.master() == Address("master", 6379)
    assert town.reached == [f"{host}:26379" for host in ("dead1", "dead2", "alive", "alive")]


@pytest.mark.parametrize("said", [None, Broken("gone"), ValueError("a fault")])
async def test_another_master_is_known_though_nobody_asks(said: Exception | None) -> None:
    town, slept = Town(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        slept.set()
        await asyncio.sleep(0)

    sentinels = Sentinels(read_place("redis+sentinel://alive/scopa"), town.link_to, sleep)
    sentinels.keep_watch()
    await _until(lambda: sentinels.latest == Address("master", 6379))
    town.master = "other"
    town.said.put_nowait(said)
    await _until(lambda: sentinels.latest == Address("other", 6379))
    assert slept.is_set() == (said is not None)
    await sentinels.close()


async def test_who_has_closed_watches_no_more() -> None:
    town = Town()
    sentinels = Sentinels(read_place("redis+sentinel://alive/scopa"), town.link_to)
    sentinels.keep_watch()
    await _until(lambda: sentinels.latest is not None)
    await sentinels.close()
    asked = len(town.reached)
    sentinels.keep_watch()
    town.said.put_nowait(None)
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(town.reached) == asked

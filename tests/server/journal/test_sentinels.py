"""Sentinels that don't answer keep nobody from those that do; who is master is kept right."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from scopa_server.journal.link import Broken, Unreached
from scopa_server.journal.places import Address, read_place
from scopa_server.journal.scripts import Command, Word
from scopa_server.journal.sentinels import Sentinels

PATIENCE = 30


class Town:
    """What all sentinels know, and what was asked of them.

    `gone`: those that refuse. `said`: what they tell who listens; an exception ends that
    connection. `listened`: who was listened to, to what.
    """

    def __init__(self) -> None:
        self.master = "master"
        self.gone: set[str] = set()
        self.reached: list[str] = []
        self.listened: list[tuple[str, *tuple[Word, ...]]] = []
        self.said: asyncio.Queue[Exception | None] = asyncio.Queue()

    def link_to(self, url: str) -> "Asked":
        return Asked(url, self)


class Asked:
    """A link to a sentinel that answers, or to one that is never reached."""

    def __init__(self, url: str, town: Town) -> None:
        self._name = url.split("/")[2].partition(":")[0]
        self._town = town

    async def open(self) -> None:
        self._town.reached.append(self._name)
        if "dead" in self._name:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        if self._name in self._town.gone:
            raise Unreached("refused")

    async def send(self, commands: Sequence[Command]) -> None:
        ((verb, *words),) = commands
        if verb == "SUBSCRIBE":
            self._town.listened.append((self._name, *words))

    async def receive(self, count: int) -> list[Any]:
        return [[self._town.master.encode(), b"6379"]]

    async def listen(self, seconds: float) -> Any:
        said = await self._town.said.get()
        if said is not None:
            raise said

    async def drop(self) -> None:
        pass


class Follower:
    """Counts how often it was told."""

    def __init__(self) -> None:
        self.told = 0

    def leave_others(self) -> None:
        self.told += 1


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
    assert town.reached == ["dead1", "dead2", "alive", "alive"]


async def test_all_who_ask_at_once_ask_the_same() -> None:
    town = Town()
    sentinels = Sentinels(read_place("redis+sentinel://alive1,alive2/scopa"), town.link_to)
    await asyncio.gather(*(sentinels.master() for _ in range(3)))
    assert town.reached == ["alive1"] * 3


@pytest.mark.parametrize("said", [None, Broken("gone"), ValueError("a fault")])
async def test_another_master_is_known_though_nobody_asks(said: Exception | None) -> None:
    town, slept = Town(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        slept.set()
        await asyncio.sleep(0)

    sentinels = Sentinels(read_place("redis+sentinel://alive/scopa"), town.link_to, sleep)
    follower = Follower()
    sentinels.tell(follower)
    sentinels.keep_watch()
    await _until(lambda: sentinels.latest == Address("master", 6379))
    told = follower.told
    town.master = "other"
    town.said.put_nowait(said)
    await _until(lambda: sentinels.latest == Address("other", 6379))
    assert follower.told > told
    assert slept.is_set() == (said is not None)
    await sentinels.close()


async def test_a_sentinel_that_answers_no_more_is_left() -> None:
    town = Town()
    sentinels = Sentinels(read_place("redis+sentinel://one,two/scopa"), town.link_to, _at_once)
    sentinels.keep_watch()
    await _until(lambda: len(town.listened) == 1)
    town.gone.add("one")
    town.said.put_nowait(None)
    await _until(lambda: len(town.listened) == 2)
    assert town.listened == [(name, "+promoted-slave", "+switch-master") for name in ("one", "two")]
    await sentinels.close()


@pytest.mark.parametrize("watched", [False, True])
async def test_who_has_closed_watches_no_more(watched: bool) -> None:
    town = Town()
    sentinels = Sentinels(read_place("redis+sentinel://alive/scopa"), town.link_to)
    if watched:
        sentinels.keep_watch()
        await _until(lambda: sentinels.latest is not None)
    await sentinels.close()
    asked = len(town.reached)
    sentinels.keep_watch()
    town.said.put_nowait(None)
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(town.reached) == asked


async def _at_once(seconds: float) -> None:
    await asyncio.sleep(0)

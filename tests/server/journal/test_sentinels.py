"""Sentinels that don't answer keep nobody from those that do."""

import asyncio
from collections.abc import Sequence
from typing import Any

from scopa_server.journal.places import Address, read_place
from scopa_server.journal.scripts import Command
from scopa_server.journal.sentinels import Sentinels

PATIENCE = 30


class Asked:
    """A link to a sentinel that answers, or to one that is never reached."""

    def __init__(self, url: str, reached: list[str]) -> None:
        self._dead = "dead" in url
        self._url = url
        self._reached = reached

    async def open(self) -> None:
        self._reached.append(self._url)
        if self._dead:
            await asyncio.Event().wait()

    async def send(self, commands: Sequence[Command]) -> None:
        pass

    async def receive(self, count: int) -> list[Any]:
        return [[b"master", b"6379"]]

    async def listen(self, seconds: float) -> Any:
        raise NotImplementedError

    async def drop(self) -> None:
        pass


async def test_who_was_asked_in_vain_is_asked_last() -> None:
    reached: list[str] = []
    place = read_place("redis+sentinel://dead1,dead2,alive/scopa")
    sentinels = Sentinels(place, lambda url: Asked(url, reached))
    async with asyncio.timeout(PATIENCE):
        # Whoever asks has no time for more than one that is silent.
        for number in (1, 2):
            asking = asyncio.create_task(sentinels.master())
            while len(reached) < number:  # noqa: ASYNC110
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.wait([asking])
        for _ in range(2):
            assert await sentinels.master() == Address("master", 6379)
    assert [url.split("/")[2] for url in reached] == [
        f"{host}:26379" for host in ("dead1", "dead2", "alive", "alive")
    ]

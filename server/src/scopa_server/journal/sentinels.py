"""Which server is master, as the sentinels say."""

import asyncio
from collections.abc import Callable
from typing import Any

from scopa_server.journal.link import Broken, Link, Refusal, TurnedAway, Unreached
from scopa_server.journal.places import Address, Place

_ANSWER_SECONDS = 1.0


class Sentinels:
    """The sentinels of one service, asked one after another; who answered last is asked first."""

    def __init__(self, place: Place, link_to: Callable[[str], Link]) -> None:
        self._place = place
        self._link_to = link_to
        self._sentinels = list(place.seeds)

    async def master(self) -> Address:
        """Return where the master is; raises `Unreached`."""
        trouble = Unreached("no sentinel answers")
        for sentinel in tuple(self._sentinels):
            # Whoever asks may have no time to hear that it is silent: until it answers it is last.
            self._move(sentinel, len(self._sentinels))
            try:
                async with asyncio.timeout(_ANSWER_SECONDS):
                    answer = await self._ask(sentinel)
            except TurnedAway as error:
                trouble = error
                continue
            except (Unreached, Broken, TimeoutError):
                continue
            match answer:
                case [bytes(host), bytes(port)]:
                    self._move(sentinel, 0)
                    return Address(host.decode(), int(port))
                case Refusal(code):
                    trouble = TurnedAway(f"is no sentinel, or refuses to answer: {code}")
                case _:
                    trouble = TurnedAway("knows no such service: is its name in --store right?")
        raise trouble

    def _move(self, sentinel: Address, to: int) -> None:
        self._sentinels.remove(sentinel)
        self._sentinels.insert(to, sentinel)

    async def _ask(self, sentinel: Address) -> Any:
        link = self._link_to(self._place.sentinel_at(sentinel))
        try:
            await link.open()
            await link.send([("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self._place.service)])
            return (await link.receive(1))[0]
        finally:
            await link.drop()

"""Who asks at the same moment is asked for together, and answered alone."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from scopa_server.journal import Unavailable
from scopa_server.journal.link import ASKED_AT_ONCE, Broken, Links, Refusal, Refused, Unreached
from scopa_server.journal.scripts import Command

CONNECTIONS = 3


class Store:
    """What all links are to; each answer is the command itself until told otherwise."""

    def __init__(self) -> None:
        self.sent: list[list[Command]] = []
        self.steps: list[Any] = []
        """What becomes of the next sendings: an exception instead of answers."""
        self.holds = False
        self.released = asyncio.Event()
        self.full = asyncio.Event()
        self.opened = 0

    def link(self) -> "Told":
        return Told(self)


class Told:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._sent: Sequence[Command] = ()

    async def open(self) -> None:
        if self._store.steps and isinstance(self._store.steps[0], Unreached):
            raise self._store.steps.pop(0)

    async def send(self, commands: Sequence[Command]) -> None:
        self._sent = commands
        self._store.sent.append(list(commands))

    async def receive(self, count: int) -> list[Any]:
        assert count == len(self._sent)
        if self._store.holds:
            self._store.opened += 1
            if self._store.opened == CONNECTIONS:
                self._store.full.set()
            await self._store.released.wait()
        if self._store.steps:
            raise self._store.steps.pop(0)
        return [Refusal("ERR") if command == ("BAD",) else command for command in self._sent]

    async def listen(self, seconds: float) -> Any:
        raise AssertionError("only an ear listens")

    async def drop(self) -> None:
        pass


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def links(store: Store) -> Links:
    return Links(store.link, CONNECTIONS)


async def test_what_is_asked_at_one_moment_goes_out_together(store: Store, links: Links) -> None:
    asked: list[Command] = [(number,) for number in range(ASKED_AT_ONCE + 1)]
    answers = await asyncio.gather(*(links.ask([command]) for command in asked))
    assert answers == [[command] for command in asked]
    assert store.sent == [asked[:-1], asked[-1:]]


async def test_one_s_refusal_is_no_other_s(links: Links) -> None:
    questions: list[list[Command]] = [[("A",), ("B",)], [("BAD",)], [("C",)]]
    told = await asyncio.gather(*map(links.ask, questions), return_exceptions=True)
    assert told[::2] == questions[::2]
    assert isinstance(told[1], Refused)


async def test_while_all_connections_are_busy_newcomers_gather(store: Store, links: Links) -> None:
    store.holds = True
    asking: list[asyncio.Task[list[Any]]] = []
    async with asyncio.timeout(30):
        while not store.full.is_set():
            asking.append(asyncio.create_task(links.ask([("EARLY",)])))
            await asyncio.sleep(0)
        late = [asyncio.create_task(links.ask([(number,)])) for number in range(20)]
        await asyncio.sleep(0)
        late[0].cancel()
        store.released.set()
        await asyncio.gather(*asking, *late[1:])
    assert len(store.sent) <= CONNECTIONS + 1
    assert (0,) not in store.sent[-1]
    assert store.sent[-1][-19:] == [(number,) for number in range(1, 20)]


async def test_only_what_was_not_answered_is_asked_again(store: Store, links: Links) -> None:
    store.steps = [Broken("lost", [("A",), ("B",), ("C",)])]
    questions: list[list[Command]] = [[("A",)], [("B",)], [("C",), ("D",)]]
    assert await asyncio.gather(*map(links.ask, questions)) == questions
    assert store.sent == [[("A",), ("B",), ("C",), ("D",)], [("C",), ("D",)]]


@pytest.mark.parametrize("steps", [[Broken("lost"), Broken("lost")], [Unreached("lost")]])
async def test_all_are_told_of_a_store_that_is_gone(
    store: Store, links: Links, steps: list[Exception]
) -> None:
    store.steps = steps
    told = await asyncio.gather(
        *(links.ask([(number,)]) for number in range(3)), return_exceptions=True
    )
    assert [(type(each), str(each)) for each in told] == [(Unavailable, "lost")] * 3
    assert await links.ask([("A",)]) == [("A",)]


async def test_who_no_longer_waits_takes_nobody_along(store: Store, links: Links) -> None:
    store.holds = True
    async with asyncio.timeout(30):
        leaving = asyncio.create_task(links.ask([("A",)]))
        staying = asyncio.create_task(links.ask([("B",)]))
        while not store.opened:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
        leaving.cancel()
        store.released.set()
        assert await staying == [("B",)]
        assert store.sent == [[("A",), ("B",)]]


async def test_who_asks_again_as_all_connections_come_free_is_served(
    store: Store, links: Links
) -> None:
    async def ask_twice() -> list[Any]:
        await links.ask([("FIRST",)])
        return await links.ask([("SECOND",)])

    store.holds = True
    async with asyncio.timeout(30):
        asking = [asyncio.create_task(ask_twice())]
        while not store.full.is_set():
            await asyncio.sleep(0)
            asking.append(asyncio.create_task(links.ask([("FIRST",)])))
        store.released.set()
        assert (await asyncio.gather(*asking))[0] == [("SECOND",)]


async def test_nothing_is_asked_of_what_is_closed(links: Links) -> None:
    await links.close()
    with pytest.raises(Unavailable, match="closed"):
        await links.ask([("A",)])

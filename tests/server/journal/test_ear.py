"""What is heard from one server: nothing that it says ends the listening for good."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from scopa_server.journal import ear as ear_module
from scopa_server.journal.ear import Ear
from scopa_server.journal.hints import Hint, Hints
from scopa_server.journal.link import Broken, Refusal
from scopa_server.journal.places import Address
from scopa_server.journal.scripts import Command, channel, slot_of

PATIENCE = 30
ROOM = "KRTNWXYZ"
NAME = channel(ROOM).encode()
CONFIRMED = [b"ssubscribe", NAME, 1]


class Told:
    """A link and its usher; it hears what the test puts in, and learns nothing from it."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[Any] = asyncio.Queue()
        self.said: list[Command] = []
        self.looked = 0

    async def open(self) -> None:
        pass

    async def send(self, commands: Sequence[Command]) -> None:
        self.said += commands

    async def receive(self, count: int) -> list[Any]:
        raise AssertionError("an ear only listens")

    async def listen(self, seconds: float) -> Any:
        message = await self.heard.get()
        if isinstance(message, Broken):
            raise message
        return message

    async def drop(self) -> None:
        pass

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)

    def learn(self, refusal: Refusal) -> bool:
        return True

    async def look_again(self) -> None:
        self.looked += 1

    async def rehome(self, ear: Ear) -> None:
        pass


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def hints() -> Hints:
    return Hints()


@pytest.fixture
async def ear(told: Told, hints: Hints) -> AsyncIterator[Ear]:
    made = Ear(told, told.sleep, hints, told)
    yield made
    await made.close()


class Elsewhere(Told):
    """A link to a server that isn't the one asked for rooms."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self._unseen = False

    async def is_heard(self, name: str) -> bool:
        self.asked.append(name)
        self._unseen = len(self.asked) == 2
        return not self._unseen

    async def drop(self) -> None:
        if self._unseen:
            self._unseen = False
            self.heard.put_nowait(Broken("dropped"))


async def listening(ear: Ear, told: Told) -> None:
    await ear.want(ROOM)
    told.heard.put_nowait(CONFIRMED)
    assert await ear.confirmed(ROOM)


async def begins_anew(ear: Ear, told: Told) -> None:
    """Wait until the room was asked for a second time, and hear it confirmed."""
    while told.said.count(("SSUBSCRIBE", channel(ROOM))) < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    told.heard.put_nowait(CONFIRMED)
    assert await ear.confirmed(ROOM)


async def test_a_room_sent_elsewhere_that_finds_nowhere_else_is_asked_for_again(
    ear: Ear, told: Told
) -> None:
    async with asyncio.timeout(PATIENCE):
        await ear.want(ROOM)
        told.heard.put_nowait(Refusal("MOVED", slot_of(ROOM), Address("host", 1)))
        await begins_anew(ear, told)
    assert told.looked == 1


async def test_words_that_mean_nothing_are_a_reason_to_look(
    ear: Ear, told: Told, hints: Hints
) -> None:
    hint = hints.add(ROOM, Hint())
    async with asyncio.timeout(PATIENCE):
        await listening(ear, told)
        assert await anext(hint) == 0
        for words in (b"nonsense", b"\xb2", b"-1", b""):
            told.heard.put_nowait([b"smessage", NAME, words])
            assert await anext(hint) == 0
        told.heard.put_nowait([b"smessage", NAME, b"7"])
        assert await anext(hint) == 7


async def test_a_fault_in_listening_is_a_reason_to_begin_anew(ear: Ear, told: Told) -> None:
    async with asyncio.timeout(PATIENCE):
        await listening(ear, told)
        told.heard.put_nowait([b"smessage", b"\xff", b"7"])
        await begins_anew(ear, told)


async def test_where_the_server_for_rooms_sees_nobody_is_listened_to_no_longer(
    hints: Hints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ear_module, "_LOOK_EVERY", 0)
    told = Elsewhere()
    ear = Ear(told, told.sleep, hints, seen=told.is_heard)
    async with asyncio.timeout(PATIENCE):
        await listening(ear, told)
        while len(told.asked) < 2:
            told.heard.put_nowait([b"pong", b""])
            await asyncio.sleep(0)
        first = told.asked[0]
        assert ("SSUBSCRIBE", first) in told.said
        await begins_anew(ear, told)
        assert ear.channel not in {"", first}
    await ear.close()

"""Enter, while the next try of a lost line is waited for."""

import asyncio
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

from websockets.asyncio.client import ClientConnection

from scopa_cli.heard import SOONEST, Timing
from scopa_cli.player import Player
from scopa_cli.session import Session
from scopa_protocol.commands import Join, Resume
from support.fake_console import FakeConsole
from support.fake_server import Peer, fake_server
from support.person import JOIN, Person
from support.server_frames import a_count, lobby, playing

LONG = 14.0


def long_waits() -> Iterator[float]:
    """Longer than anybody likes to wait."""
    return repeat(LONG)


async def for_ever_after_the_soonest(seconds: float) -> None:
    """A wait that ends only if it is cut short, where it may be."""
    if seconds > SOONEST:
        await asyncio.Event().wait()


async def drops(peer: Peer) -> None:
    """A scene at whose end the line is lost."""
    over = playing(phase="deal_over", count=a_count(), hand=None, to_play=None)
    await peer.let_in(over, Join)
    peer.drop()


async def back(peer: Peer) -> None:
    """A scene that goes on, and in which nothing is sent but what comes back to the seat."""
    await peer.let_in(lobby(), Resume)
    await peer.ws.close(1000)


async def hurried(folder: Path, console: FakeConsole) -> None:
    """Lose the line and press Enter for it, where a person is told of that."""
    person = Person(folder, JOIN)
    timing = Timing(pause=for_ever_after_the_soonest, delays=long_waits)
    async with fake_server(drops, back) as server:
        player = Player(person.entry(server.endpoint), console, person.wishes, timing=timing)
        life = asyncio.create_task(player.run())
        await console.sees("Trying again in 14 s; Enter tries at once.")
        console.type("")
        async with asyncio.timeout(10):
            await life


async def test_enter_tries_at_once(tmp_path: Path) -> None:
    console = FakeConsole()
    await hurried(tmp_path, console)
    assert "Back at the table." in console.shown


async def test_that_enter_means_nothing_else(tmp_path: Path) -> None:
    console = FakeConsole()
    await hurried(tmp_path, console)
    assert "Enter when ready> " in console.asked
    assert "The line is down" not in console.text


async def test_enter_during_a_try_shortens_no_wait_that_follows() -> None:
    slept: list[float] = []

    async def pause(seconds: float) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        slept.append(seconds)

    async def fails(_: str) -> ClientConnection:
        session.hurry()
        raise ConnectionRefusedError

    timing = Timing(pause=pause, delays=long_waits)
    session = Session("ws://127.0.0.1:1/ws", lambda _: None, timing=timing, dialled=fails)
    session.open(JOIN)
    await session.run()
    assert slept == [SOONEST, LONG - SOONEST] * 3


async def test_a_key_held_down_is_no_flood_of_tries() -> None:
    slept: list[float] = []

    async def pause(seconds: float) -> None:
        session.hurry()
        for _ in range(5):
            await asyncio.sleep(0)
        slept.append(seconds)

    async def fails(_: str) -> ClientConnection:
        raise ConnectionRefusedError

    timing = Timing(pause=pause, delays=long_waits)
    session = Session("ws://127.0.0.1:1/ws", lambda _: None, timing=timing, dialled=fails)
    session.open(JOIN)
    await session.run()
    assert slept == [SOONEST] * 3


async def test_without_a_prompt_nobody_is_told_of_enter(tmp_path: Path) -> None:
    console = FakeConsole(fancy=False)
    person = Person(tmp_path, JOIN, console)

    async def pause(_: float) -> None:
        await asyncio.sleep(0)

    timing = Timing(pause=pause, delays=long_waits)
    async with fake_server(drops, back) as server:
        player = Player(person.entry(server.endpoint), console, person.wishes, timing=timing)
        await player.run()
    assert "Trying again in 14 s." in console.text

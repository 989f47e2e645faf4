"""People who want to fill the store, and a quick table beside them."""

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count, cycle
from typing import Final, TypeAlias

from websockets.exceptions import ConnectionClosed

from scopa_protocol import commands as c
from scopa_protocol.frames import Error
from scopa_server.bounds import SPARABLE
from scopa_server.options import OPTIONS
from support.player import Player

HOSTILE: Final = "127.0.0.2"
HONEST: Final = "127.0.0.3"
LIMITS: Final = tuple(
    word
    for option in OPTIONS
    if option.field in SPARABLE
    for word in (option.flag, option.default or "")
)
"""What strangers meet, asked for: everybody here is on the server's own machine."""
FINGERS: Final = 0.25
"""Seconds that a quick person takes for a card."""


@dataclass(slots=True)
class Seen:
    """What people were answered: by what they did and the code, and how long the honest waited."""

    enough: Callable[["Seen"], bool]
    answers: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    waits: list[float] = field(default_factory=list[float])
    refused: Counter[str] = field(default_factory=Counter[str])
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self) -> None:
        """Something more was seen; perhaps it is enough."""
        if self.enough(self):
            self.over.set()


@dataclass(slots=True)
class Nuisance:
    """Somebody who does the same again and again."""

    url: str
    kind: str
    seen: Seen

    @asynccontextmanager
    async def seated(self, **rules: object) -> AsyncGenerator[Player]:
        """Sit at a table of one's own."""
        async with Player(self.url, source=HOSTILE) as player:
            await player.host("Mala", **{"variant": "scopa", "players": 2, **rules})
            yield player

    async def does(self, player: Player, command: c.Command) -> bool:
        """Send a command and heed the answer; whether it was followed."""
        answer = await player.do(command)
        code = answer.code if isinstance(answer, Error) else "ok"
        self.seen.answers[self.kind, code] += 1
        self.seen.note()
        if isinstance(answer, Error):
            # Who went on regardless would be closed.
            await asyncio.sleep((answer.details or {}).get("retry_ms", 1000) / 1000)
        return code == "ok"


async def pauses(one: Nuisance) -> None:
    """Pause and unpause."""
    async with one.seated() as player:
        await player.do(c.SeatBot(seat=1))
        await player.do(c.Start())
        while True:
            await one.does(player, c.Pause())
            await one.does(player, c.Unpause())


async def configures(one: Nuisance) -> None:
    """Change the settings."""
    async with one.seated() as player:
        for pace in cycle((1, 2)):
            await one.does(player, c.Configure(settings={"pace_ms": pace}))


async def seats_bots(one: Nuisance) -> None:
    """Seat a bot and send it away."""
    async with one.seated() as player:
        while True:
            await one.does(player, c.SeatBot(seat=1))
            name = player.view.seats[1].name if player.view else None
            await one.does(player, c.Unseat(seat=1, name=name or ""))


async def wanders(one: Nuisance) -> None:
    """Change seats."""
    async with one.seated() as player:
        for seat in cycle((1, 0)):
            await one.does(player, c.Sit(seat=seat))


async def begins(one: Nuisance) -> None:
    """Begin a match and end it."""
    async with one.seated() as player:
        await player.do(c.SeatBot(seat=1))
        while True:
            await one.does(player, c.Start())
            await one.does(player, c.EndMatch())


async def talks(one: Nuisance) -> None:
    """Talk without end."""
    async with one.seated() as player:
        for number in count():
            await one.does(player, c.Say(text=f"{number} " + "é" * 270))


async def comes_and_goes(one: Nuisance) -> None:
    """Take a seat and give it up, each time as somebody new."""
    async with one.seated() as host:
        assert host.view is not None
        while True:
            async with Player(one.url, source=HOSTILE) as player:
                await one.does(player, c.Join(room=host.view.room, name="Ospite"))
                with contextlib.suppress(ConnectionClosed):
                    await one.does(player, c.Leave())


async def plays(one: Nuisance) -> None:
    """Play match after match with bots that don't think."""
    chance = random.Random(1)
    async with one.seated(players=4) as player:
        for seat in (1, 2, 3):
            await player.do(c.SeatBot(seat=seat))
        while True:
            assert player.view is not None
            idle = player.view.phase in {"lobby", "match_over"}
            move = c.Start() if idle else player.next_move(chance)
            if move is None:
                await player.receive()
            else:
                await one.does(player, move)


async def opens(one: Nuisance) -> None:
    """Open a room and leave it."""
    while True:
        async with Player(one.url, source=HOSTILE) as player:
            if await one.does(player, c.Create(name="Mala", rules={"variant": "scopa"})):
                with contextlib.suppress(ConnectionClosed):
                    await one.does(player, c.Leave())


Kind: TypeAlias = Callable[[Nuisance], Awaitable[None]]
KINDS: Final[dict[str, Kind]] = {
    kind.__name__: kind
    for kind in (
        pauses, configures, seats_bots, wanders, begins, talks, comes_and_goes, plays, opens,
    )
}  # fmt: skip


async def quick_table(url: str, seen: Seen) -> None:
    """Four people who play match after match, a card as soon as a finger falls."""
    async with contextlib.AsyncExitStack() as stack:
        people = [await stack.enter_async_context(Player(url, source=HONEST)) for _ in range(4)]
        code = (await people[0].host("Anna", variant="scopa", players=4)).room
        for player, name in zip(people[1:], ("Bruno", "Carla", "Dino"), strict=True):
            await player.join(code, name)
        await asyncio.gather(*(_quick(player, seen, seed) for seed, player in enumerate(people)))


async def _quick(player: Player, seen: Seen, seed: int) -> None:
    chance = random.Random(seed)
    while True:
        view = player.view
        assert view is not None
        idle = view.phase in {"lobby", "match_over"}
        move = player.next_move(chance) if not idle else (c.Start() if view.you == 0 else None)
        if move is None:
            await player.receive()
            continue
        await asyncio.sleep(FINGERS)
        begun = time.monotonic()
        answer = await player.do(move)
        seen.waits.append(time.monotonic() - begun)
        if isinstance(answer, Error):
            seen.refused[answer.code] += 1
        seen.note()


async def meddle(
    url: str, kinds: Sequence[str], seconds: float, enough: Callable[[Seen], bool] = lambda _: False
) -> Seen:
    """Let them all at the server for a while, or until it is enough; what came of it."""
    seen = Seen(enough)
    tasks: list[asyncio.Task[object]] = [asyncio.create_task(seen.over.wait())]
    tasks.append(asyncio.create_task(quick_table(url, seen)))
    for kind in kinds:
        one = Nuisance(url, kind, seen)
        tasks.append(asyncio.create_task(_without_end(KINDS[kind], one)))
    done, left = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    for task in done:
        task.result()
    return seen


async def _without_end(kind: Kind, one: Nuisance) -> None:
    while True:
        try:
            await kind(one)
        except ConnectionClosed as end:
            one.seen.answers[one.kind, f"closed {end.rcvd.code if end.rcvd else 1006}"] += 1
        except AssertionError:
            # Not let in: tried again.
            one.seen.answers[one.kind, "not in"] += 1
            await asyncio.sleep(0.1)

"""Tables of people and bots, where people come, go, are cut off and come back."""

import asyncio
import random
import secrets
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from websockets.exceptions import ConnectionClosed, InvalidHandshake

from .line import Frame, Line, View

VARIANTS: Final = ("scopa", "scopone", "cirulla", "chkobba", "escoba", "scopone_scientifico")
SETTINGS: Final[dict[str, Any]] = {
    "pace_ms": 700,
    "absent_seconds": 4,
    "next_deal_seconds": 6,
    "turn_seconds": 20,
    "watchers": "table",
    "talk": "always",
}
THINKS: Final = (0.3, 2.0)
STAYS: Final = (30.0, 120.0)
"""Seconds that a table lasts before it is given up for another."""
PASSCODE: Final = "sesamo"
RACES: Final = frozenset(
    {"stale", "not_your_turn", "wrong_phase", "paused", "too_fast", "seats_empty"}
)
"""Refusals that people meet who play at once."""


@dataclass
class Tally:
    """What happened, in all."""

    counts: Counter[str] = field(default_factory=Counter[str])
    faults: Counter[str] = field(default_factory=Counter[str])
    waits: list[float] = field(default_factory=list[float])
    """Seconds from a play to its answer, a sample of them."""
    open_rooms: set[str] = field(default_factory=set[str])
    """Codes of tables that are played at."""

    def answered(self, kind: str, frame: Frame, seconds: float) -> None:
        """A command was answered."""
        self.counts[kind] += 1
        if kind == "play" and len(self.waits) < 50_000:
            self.waits.append(seconds)
        if frame.type == "error" and frame.code not in RACES:
            self.faults[f"{kind}: {frame.code}"] += 1


@dataclass
class Person:
    """Somebody at a table; the seat's token survives the connection."""

    port: int
    chance: random.Random
    tally: Tally
    name: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    code: str = ""
    ends: float = 0.0

    async def host(self, seats: int, ends: float) -> Line:
        """Open a room and put bots where nobody will come; some rooms have a passcode."""
        self.ends = ends
        line = await Line.open(self.port)
        variant = self.chance.choice(VARIANTS)
        frame = await self._enter(
            line,
            "create",
            name=self.name,
            rules={"variant": variant, "target": 7},
            settings=SETTINGS,
            **({"passcode": PASSCODE} if seats == 1 else {}),
        )
        self.tally.answered("create", frame, 0)
        self.code = frame.room or ""
        chairs = line.view.seats if line.view else []
        for seat in range(min(seats, len(chairs)), len(chairs)):
            self.tally.answered("seat_bot", await line.ask("seat_bot", seat=seat), 0)
        return line

    async def join(self, code: str) -> Line:
        """Sit down where there is room."""
        self.code = code
        line = await Line.open(self.port)
        self.tally.answered(
            "join", await self._enter(line, "join", room=self.code, name=self.name), 0
        )
        return line

    async def _enter(self, line: Line, kind: str, /, **more: Any) -> Frame:
        """Come in; who is told to wait does, as every client should."""
        while True:
            frame = await line.ask(kind, token=self.token, **more)
            if frame.code != "too_fast":
                return frame
            self.tally.counts["told to wait"] += 1
            await asyncio.sleep(self.chance.uniform(0.5, 2))

    async def stay(self, line: Line) -> None:
        """Play until the table ends, over cuts and absences; then leave for good."""
        while True:
            try:
                await self._play(line)
                frame = await line.ask("leave")
                self.tally.answered("leave", frame, 0)
                await line.socket.close()
                return
            except _Cut:
                line.drop()
                self.tally.counts["cut"] += 1
                await asyncio.sleep(self.chance.choice((0.1, 1.0, 3.0, 9.0)))
            except (ConnectionClosed, TimeoutError, InvalidHandshake, OSError) as fault:
                code = line.socket.close_code
                self.tally.faults[f"line: {type(fault).__name__} {code}"] += 1
            line = await Line.open(self.port)
            frame = await self._enter(line, "resume", room=self.code)
            self.tally.answered("resume", frame, 0)
            if frame.type != "joined":
                await line.socket.close()
                return

    async def _play(self, line: Line) -> None:
        while time.monotonic() < self.ends:
            move = _move(line.view) if line.view else None
            if move is None:
                await self._listen(line)
                continue
            await asyncio.sleep(self.chance.uniform(*THINKS))
            if self.chance.random() < 0.02:
                raise _Cut
            if self.chance.random() < 0.02:
                await line.ask("say", text="Che mano!", key=secrets.token_hex(4))
            kind, fields = move(self.chance)
            start = time.monotonic()
            self.tally.answered(kind, await line.ask(kind, **fields), time.monotonic() - start)

    async def _listen(self, line: Line) -> None:
        try:
            await line.frame(max(0.1, min(15.0, self.ends - time.monotonic())))
        except TimeoutError:
            # Nobody moved for so long: say that one is there, as a browser does.
            await line.ask("ping")


class _Cut(Exception):
    """The line is cut now."""


Move: TypeAlias = Callable[[random.Random], tuple[str, dict[str, Any]]]
"""Chooses a command: its type and its fields."""


def _move(view: View) -> Move | None:
    """What this seat could do now; None: it is for others to move."""
    if view.you is None:
        return None
    if view.phase == "deal_over":
        return None if view.seats[view.you].ready else lambda _: ("ready", {"deal": view.deal})
    if view.phase in ("lobby", "match_over"):
        full = all(chair.kind != "empty" and chair.kind != "vacant" for chair in view.seats)
        return (lambda _: ("start", {})) if view.host == view.you and full else None
    if view.first_card is not None:
        return lambda chance: ("first_card", {"deal": view.deal, "keep": chance.random() < 0.5})
    if view.declarations:
        return lambda chance: ("declare", _declare(view, chance))
    if view.to_play == view.you and view.options:
        return lambda chance: ("play", _play(view, chance))
    return None


def _declare(view: View, chance: random.Random) -> dict[str, Any]:
    offered = chance.choice(view.declarations)
    named = {"deal": view.deal, "batch": view.batch, "kind": offered.kind}
    return named if offered.matta is None else {**named, "matta": offered.matta}


def _play(view: View, chance: random.Random) -> dict[str, Any]:
    options = view.options or {}
    card = chance.choice(sorted(options))
    take = chance.choice(options[card] or [[]])
    return {"deal": view.deal, "turn": view.turn, "card": card, "take": take}


async def table(port: int, number: int, ends: float, tally: Tally) -> None:
    """One table after another at a place, until the end."""
    chance = random.Random(number)
    await asyncio.sleep(chance.uniform(0, 10))
    while time.monotonic() + 10 < ends:
        people = chance.choice((1, 1, 2, 2, 3))
        until = min(ends, time.monotonic() + chance.uniform(*STAYS))
        try:
            await _party(port, chance, people, until, tally)
        except* (ConnectionClosed, TimeoutError, InvalidHandshake, OSError) as group:
            for fault in group.exceptions:
                tally.faults[f"table: {fault!r}"] += 1


async def _party(port: int, chance: random.Random, people: int, until: float, tally: Tally) -> None:
    host = Person(port, chance, tally, "Anna")
    line = await host.host(people, until)
    chairs = len(line.view.seats) if line.view else people
    tally.open_rooms.add(host.code)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(host.stay(line))
            for name in ("Bruno", "Carla", "Dario")[: min(people, chairs) - 1]:
                guest = Person(port, chance, tally, name, ends=until)
                group.create_task(guest.stay(await guest.join(host.code)))
            if chance.random() < 0.3 and people > 1:
                group.create_task(_watch(port, host.code, until, tally, chance))
    finally:
        tally.open_rooms.discard(host.code)


async def _watch(port: int, code: str, until: float, tally: Tally, chance: random.Random) -> None:
    """Somebody looks on for a while, asks for the past, and goes without a word."""
    line = await Line.open(port)
    tally.answered("watch", await line.ask("watch", room=code, name="Ugo"), 0)
    try:
        async with asyncio.timeout(min(until - time.monotonic(), chance.uniform(5, 60))):
            while True:
                await line.frame()
    except TimeoutError:
        tally.counts["history"] += 1
        await line.ask("history")
    line.drop()

"""A table of four people who play any legal card, over the protocol and nothing else."""

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Final, TypeAlias

from .line import PATIENCE, Broken, Line
from .wire import Codec, Heard, Seen

SEATS: Final = 4
DEAL: Final = 44
"""Commands of a deal of Scopone scientifico: 40 plays, and four who are ready for the next."""


class Table(ABC):
    """Four connections, with at most one command under way."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.received = 0
        """Bytes that came to the four so far."""
        self.lead = 0
        """Commands to give before anything is measured."""
        self.finished: Finished = _nothing
        self.fault: Callable[[BaseException], None] = _raise

    @property
    @abstractmethod
    def next_is_play(self) -> bool:
        """Whether the next command plays a card: that is what counts as a move."""

    @abstractmethod
    def step(self, since: float) -> None:
        """Give the next command. `since`: from when on its people wait for it."""

    @abstractmethod
    async def open(self, url: str) -> None:
        """Connect all four and begin to play."""

    async def connect(
        self, url: str, heard: Callable[[memoryview], None], subprotocol: str | None = None
    ) -> None:
        """Open one more connection."""
        line = Line(heard, self.failed)
        self.lines.append(line)
        await line.connect(url, subprotocol)

    def failed(self, error: BaseException) -> None:
        """Say that something went wrong here."""
        self.fault(error)

    async def close(self) -> None:
        """Let the connections go."""
        await asyncio.gather(*(line.close() for line in self.lines))
        self.lines.clear()


Finished: TypeAlias = Callable[[Table, float, bool], None]
"""Told when all four hold what a command led to: the table, `since`, whether it was a play."""


def _nothing(_table: Table, _since: float, _played: bool) -> None:
    """Nobody waits for it."""


def _raise(error: BaseException) -> None:
    raise error


RULES: Final = {"variant": "scopone_scientifico"}
OPENING: Final = {"rules": RULES, "settings": {"next_deal_seconds": 0}}
"""A table that waits while others are measured must find the deal that it left."""


@dataclass(slots=True)
class _Command:
    """What is under way: its number, what all held before it, and whether it is answered."""

    number: int
    base: int
    since: float
    played: bool
    answered: bool = False


class Game(Table):
    """A table at a Scopa server. Checks that every update carries the next number."""

    def __init__(self, codec: Codec, seed: int) -> None:
        super().__init__()
        self._codec = codec
        self._chance = random.Random(seed)
        # A first deal's views are smaller than all others; and no two tables keep step.
        self.lead = DEAL + seed * 7 % DEAL
        self._ids = count(1)
        self._answers: dict[int, asyncio.Future[Heard]] = {}
        self._under_way: _Command | None = None
        self._ready = 0
        self._heard = asyncio.Event()
        self.seen: list[Seen | None] = [None] * SEATS
        self.code = ""
        self.tokens = [""] * SEATS
        self.sent: Callable[[int, bytes], None] | None = None
        self.shown: Callable[[int, bytes], None] | None = None

    # Sitting down

    async def open(self, url: str) -> None:
        """Connect, host, join and start."""
        for seat in range(SEATS):
            heard = partial(self.heard, seat)
            await self.connect(f"{url}/ws", heard, self._codec.subprotocol)
        await self._sit(0, {"type": "create", "name": "Anna", **OPENING})
        for seat, name in enumerate(("Bruno", "Carla", "Dino"), start=1):
            await self._sit(seat, {"type": "join", "room": self.code, "name": name, "seat": seat})
        # Where they are at different workers, the host hears of the last one a little later.
        await self._until(self._agreed)
        await self._ask(0, {"type": "start"})
        await self._until(lambda: self._agreed() and self._public.phase == "playing")

    async def _until(self, reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not reached():
                self._heard.clear()
                await self._heard.wait()

    async def _sit(self, seat: int, command: dict[str, Any]) -> None:
        answer = await self._ask(seat, command)
        if answer.room is None or answer.token is None:
            raise Broken(f"{command['type']} wasn't answered by a seat")
        self.code, self.tokens[seat] = answer.room, answer.token

    async def _ask(self, seat: int, command: dict[str, Any]) -> Heard:
        number = self._give(seat, command)
        answer: asyncio.Future[Heard] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        async with asyncio.timeout(PATIENCE):
            return await answer

    def _give(self, seat: int, command: dict[str, Any]) -> int:
        number = next(self._ids)
        data = self._codec.encode({**command, "id": number})
        if self.sent is not None:
            self.sent(seat, data)
        self.lines[seat].send(self._codec.kind, data)
        return number

    # Playing

    @property
    def next_is_play(self) -> bool:
        """Whether a deal is being played."""
        return self._public.phase == "playing"

    @property
    def _public(self) -> Seen:
        """What all four see alike."""
        view = self.seen[0]
        assert view is not None
        return view

    @property
    def commits(self) -> int:
        """How many commits the room has."""
        return self._public.seq

    def step(self, since: float) -> None:
        """Play, or say that a seat is ready, or begin the next match."""
        view = self._public
        seat, command = 0, self._between(view)
        if view.phase == "playing":
            seat, command = self._play(view)
        elif view.phase == "deal_over":
            seat = self._ready
            self._ready += 1
        number = self._give(seat, command)
        self._under_way = _Command(number, view.seq, since, command["type"] == "play")

    def _between(self, view: Seen) -> dict[str, Any]:
        if view.phase == "deal_over":
            return {"type": "ready", "deal": view.deal}
        return {"type": "start"}

    def _play(self, public: Seen) -> tuple[int, dict[str, Any]]:
        seat = public.to_play
        view = None if seat is None else self.seen[seat]
        if seat is None or view is None or not view.options:
            raise Broken("the seat to play was shown no options")
        card, sets = self._chance.choice(list(view.options.items()))
        take = self._chance.choice(sets) if sets else []
        play = {"type": "play", "deal": view.deal, "turn": view.turn, "card": card, "take": take}
        return seat, play

    # Listening

    def heard(self, seat: int, data: memoryview) -> None:
        """A frame came to a seat. Raises Broken if it isn't what it must be."""
        self.received += len(data)
        frame = self._codec.decode(data)
        if frame.code is not None:
            raise Broken(f"refused: {frame.code}: {frame.message}")
        if frame.view is not None:
            if self.shown is not None:
                self.shown(seat, bytes(data))
            self._check(seat, frame, frame.view)
            self.seen[seat] = frame.view
        if frame.re is not None:
            self._answered(frame.re if isinstance(frame.re, list) else [frame.re], frame)
        if self._under_way is not None:
            self._settle(self._under_way)
        else:
            self._heard.set()

    def _answered(self, numbers: list[int], frame: Heard) -> None:
        for number in numbers:
            answer = self._answers.pop(number, None)
            if answer is not None:
                answer.set_result(frame)
            elif self._under_way is None or number != self._under_way.number:
                raise Broken("a command was answered that isn't under way")
            else:
                self._under_way.answered = True

    def _check(self, seat: int, frame: Heard, now: Seen) -> None:
        """Numbers count up by one: with one command under way none is left out or joined.

        Who is online may change without a new number.
        """
        before = self.seen[seat]
        if before is None or frame.type != "update":
            return
        if frame.seq != now.seq or now.log != before.log:
            raise Broken("an update's number or log is not its view's")
        if now.seq < before.seq or (self._under_way and now.seq > before.seq + 1):
            raise Broken(f"an update is numbered {now.seq} after {before.seq}")

    def _settle(self, command: _Command) -> None:
        if not command.answered or not self._agreed(beyond=command.base):
            return
        phase = self._public.phase
        if phase == "deal_over" and self._ready == SEATS:
            return  # the next deal is on its way
        if phase != "deal_over":
            self._ready = 0
        self._under_way = None
        self.finished(self, command.since, command.played)

    def _agreed(self, beyond: int = 0) -> bool:
        """Whether all four hold the same, newer than `beyond`."""
        first = self.seen[0]
        if first is None or first.seq <= beyond:
            return False
        return all(view is not None and view.seq == first.seq for view in self.seen)

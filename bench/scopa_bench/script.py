"""What four people of a real table sent and were shown, to be moved again with no game."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from .line import Broken
from .load import Load
from .table import SEATS, Game, Table
from .wire import Codec, Format, Heard


class Step(Struct, frozen=True):
    """One command: who gave it, its bytes, and the frame that each of the four got."""

    seat: int
    command: bytes
    played: bool
    frames: list[bytes]


class Script(Struct, frozen=True):
    """Steps one after another; after the last comes the first."""

    format: Format
    steps: list[Step]


class Recorder:
    """Listens to a table, one step at a time."""

    def __init__(self, table: Game) -> None:
        self.steps: list[Step] = []
        self._command: tuple[int, bytes] = (0, b"")
        self._frames: list[bytes] = [b""] * SEATS
        table.sent = self._sent
        table.shown = self._shown

    def _sent(self, seat: int, data: bytes) -> None:
        self._command = seat, data

    def _shown(self, seat: int, data: bytes) -> None:
        self._frames[seat] = data

    def step(self, played: bool) -> None:
        """The step is over."""
        seat, command = self._command
        self.steps.append(Step(seat, command, played, self._frames))
        self._frames = [b""] * SEATS


async def record(url: str, codec: Codec, fmt: Format, steps: int) -> Script:
    """Play a table and write down what went to and fro."""
    table = Game(codec, 1)
    load = Load([table], {})
    await load.opened(table.open(url))
    await load.lead_in()
    recorder = Recorder(table)
    done = asyncio.Event()

    def finished(_: Table, since: float, played: bool) -> None:
        recorder.step(played)
        if len(recorder.steps) == steps:
            done.set()
        else:
            table.step(since)

    table.finished = finished
    table.step(0.0)
    await asyncio.wait_for(done.wait(), 60)
    await table.close()
    return Script(fmt, recorder.steps)


def save(script: Script, path: Path) -> None:
    """Write a script for the relay to read."""
    path.write_bytes(msgspec.msgpack.encode(script))


def read(path: Path) -> Script:
    """Read a script."""
    return msgspec.msgpack.decode(path.read_bytes(), type=Script)


def start(table: int, script: Script) -> int:
    """Where in the script a table begins: no two keep step."""
    return table * 7 % len(script.steps)


class Scripted(Table):
    """A table at the relay: what its four send and get is fixed."""

    def __init__(self, codec: Codec, script: Script, number: int) -> None:
        super().__init__()
        self._codec = codec
        self._steps: Final[Sequence[Step]] = script.steps
        self._number = number
        self._at = start(number, script)
        self._since = 0.0
        self._left = 0
        self._seen: list[Heard | None] = [None] * SEATS

    async def open(self, url: str) -> None:
        """Connect, and say which seat of which table each is."""
        for seat in range(SEATS):
            path = f"{url}/?table={self._number}&seat={seat}"
            await self.connect(path, partial(self._heard, seat))

    @property
    def next_is_play(self) -> bool:
        """Whether the next command in the script is a play."""
        return self._steps[self._at].played

    def step(self, since: float) -> None:
        """Send what the script says."""
        step = self._steps[self._at]
        self._since, self._left = since, SEATS
        self.lines[step.seat].send(self._codec.kind, step.command)

    def _heard(self, seat: int, data: memoryview) -> None:
        self.received += len(data)
        step = self._steps[self._at]
        if len(data) != len(step.frames[seat]):
            raise Broken("the relay sent something else than it was to")
        # The load does the same work for every contender.
        self._seen[seat] = self._codec.decode(data)
        self._left -= 1
        if not self._left:
            self._at = (self._at + 1) % len(self._steps)
            self.finished(self, self._since, step.played)

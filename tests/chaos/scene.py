"""One fault on purpose: tables play, it strikes, they recover, and what must hold is looked at."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct, field

from support.server_process import Program

from . import invariants
from .stage import HURRIED, PATIENCE, UNSTEADY, Stage, until
from .table import Table

INVARIANTS: Final = ("kept", "agree", "on", "clean")


class Scale(Struct, frozen=True):
    """How much of everything: tables, plays before a fault, seconds that a long fault lasts."""

    tables: int
    plays: int
    stopped: float
    held: float
    slow: float
    patience: float
    program: Program


FULL: Final = Scale(tables=3, plays=2, stopped=60, held=3, slow=2, patience=4, program=UNSTEADY)
SHORT: Final = Scale(tables=1, plays=1, stopped=0, held=0.1, slow=0.2, patience=1, program=HURRIED)


class Result(Struct):
    """What came of a fault, and the invariants it broke.

    Seconds from the fault until a play that was sent after it was accepted: the first at a table,
    and the first of each person there; each for the table that had to wait longest.
    """

    name: str
    firsts: list[float] = field(default_factory=list)
    lasts: list[float] = field(default_factory=list)
    broken: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    plays: int = 0
    seconds: float = 0


class Scene:
    """A fault's surroundings. A fault calls `strike`, then whatever ends it, then `recover`."""

    def __init__(self, stage: Stage, scale: Scale, result: Result) -> None:
        self.stage = stage
        self.scale = scale
        self.result = result
        self.tables: list[Table] = []
        self.struck = 0.0

    def note(self, what: str) -> None:
        """Say what was done."""
        self.result.notes.append(what)

    def begin(self) -> None:
        """From now on the fault is there."""
        self.struck = monotonic()

    async def strike(self, fault: Callable[..., object], *more: object) -> None:
        """Do it now, in another thread: it may wait for what this one keeps going."""
        self.begin()
        await asyncio.to_thread(fault, *more)

    async def recover(self, tables: list[Table] | None = None) -> None:
        """Wait until everybody has played again since the fault, and note how long it took."""
        for table in self.tables if tables is None else tables:
            await self._played(table, self.struck)
            accepted = table.accepted_since(self.struck)
            self.result.firsts.append(min(accepted) - self.struck)
            self.result.lasts.append(max(accepted) - self.struck)

    async def _played(self, table: Table, moment: float) -> None:
        try:
            await until(lambda: table.all_played_since(moment) or table.over)
        except TimeoutError:
            raise Stuck(f"{table.code}: no play was accepted in {PATIENCE:.0f} s") from None
        if table.over:
            raise Stuck(f"{table.code} is over: {', '.join(table.over)}")

    async def go_on(self) -> None:
        """Wait until everybody at every table has played again."""
        moment = monotonic()
        for table in self.tables:
            await self._played(table, moment)

    async def lasts(self, seconds: float) -> None:
        """Let a fault last."""
        await asyncio.sleep(seconds)


class Stuck(Exception):
    """A table doesn't go on."""


Act: TypeAlias = Callable[[Scene], Awaitable[None]]


class Fault(NamedTuple):
    """A fault by name, what it needs, and how it is caused."""

    name: str
    act: Act
    sqlite: bool = False
    again: bool = False
    """Another fault of this kind is caused, or a test beside shows it: not in `make test`."""


async def perform(stage: Stage, fault: Fault, scale: Scale) -> Result:
    """Cause a fault at new tables, and look at everything that must hold."""
    result = Result(fault.name)
    scene = Scene(stage, scale, result)
    begun = monotonic()
    scene.tables = await stage.tables(scale.tables)
    try:
        await _play(scene, fault)
    finally:
        for table in scene.tables:
            await table.close()
    result.broken["clean"] = await stage.leftovers()
    result.plays = sum(len(p.accepted) for table in scene.tables for p in table.people)
    result.seconds = monotonic() - begun
    return result


async def _play(scene: Scene, fault: Fault) -> None:
    broken = scene.result.broken
    for _ in range(scene.scale.plays):
        await scene.go_on()
    for table in scene.tables:
        for person in (*table.people, *table.watchers):
            person.patience = scene.scale.patience
    try:
        await fault.act(scene)
        await scene.go_on()
        broken["on"] = []
    except Stuck as stuck:
        broken["on"] = [str(stuck)]
    for table in scene.tables:
        table.rest()
    lasting = [table for table in scene.tables if not table.over]
    kept = [await invariants.nothing_gone_or_doubled(scene.stage, table) for table in lasting]
    agree = [await invariants.all_agree(scene.stage, table) for table in lasting]
    broken["kept"] = [each for found in kept for each in found]
    broken["agree"] = [each for found in agree for each in found]

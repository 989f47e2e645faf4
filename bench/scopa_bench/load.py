"""Plays many tables at once for a while, and measures: as fast as they can, or at a pace."""

import asyncio
import gc
import time
from array import array
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from .line import PATIENCE, Broken
from .table import Table
from .usage import busy_seconds, cpu_seconds

now: Final = time.perf_counter
LEADS_IN_WITHIN: Final = 10 * PATIENCE


@dataclass(slots=True, kw_only=True)
class Window:
    """What was measured in one go. Times in seconds; `cpu` by part, the load's own included.

    `all_cpu`: what everything on the machine took.
    """

    seconds: float = 0.0
    moves: int = 0
    received: int = 0
    latencies: "array[float]" = field(default_factory=lambda: array("d"))
    cpu: dict[str, float] = field(default_factory=dict)
    all_cpu: float = 0.0

    @property
    def rate(self) -> float:
        """Moves a second."""
        return self.moves / self.seconds

    def cpu_us(self, part: str) -> float:
        """Processor time a move, in microseconds."""
        return self.cpu[part] / max(1, self.moves) * 1e6

    @property
    def kib_a_move(self) -> float:
        """What the four received for each card played, in KiB."""
        return self.received / max(1, self.moves) / 1024

    @property
    def others(self) -> float:
        """How much of a core other programs took."""
        return max(0.0, self.all_cpu - sum(self.cpu.values())) / self.seconds

    def latency_ms(self, quantile: float) -> float:
        """How long a play took to reach all four, in milliseconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * quantile))] * 1e3 if ordered else 0


class Load:
    """Tables that play. `parts`: whose processor time is measured, by name."""

    def __init__(self, tables: Sequence[Table], parts: Mapping[str, Sequence[int]]) -> None:
        self._tables = tables
        self._parts = parts
        self._window: Window | None = None
        self.running = False
        self._under_way = 0
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._quiet = asyncio.Event()
        for table in tables:
            table.fault = self._fault

    def _fault(self, error: BaseException) -> None:
        if not self._broken.done():
            self._broken.set_exception(error)
            self._quiet.set()

    async def opened(self, opening: Awaitable[object]) -> None:
        """Wait until the tables are open. Raises what goes wrong at one of them meanwhile."""
        task = asyncio.ensure_future(opening)
        either: set[asyncio.Future[Any]] = {task, self._broken}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self._broken.result()
        await task

    async def lead_in(self) -> None:
        """Let every table play until it is like any other in the middle of a match."""
        left = {table: table.lead for table in self._tables if table.lead}

        def finished(table: Table, since: float, played: bool) -> None:
            left[table] -= 1
            if left[table]:
                self.step(table, now())
            self.done(since, played)

        for table in left:
            table.finished = finished
            self.step(table, now())
        await self._stop(LEADS_IN_WITHIN)

    async def saturated(self, warm: float, seconds: float) -> Window:
        """Let every table always have one command under way."""
        for table in self._tables:
            table.finished = self._next_at_once
        return await self._measured(self._all_step, warm, seconds)

    async def paced(self, each_second: float, warm: float, seconds: float) -> Window:
        """Let every table play so many cards a second, each at its own moments.

        A play that can't be made in time, because the last is not yet over, is measured from when
        it was due.
        """
        pace = _Pace(self, 1 / each_second)
        return await self._measured(partial(pace.begin, self._tables), warm, seconds)

    def _all_step(self) -> None:
        for table in self._tables:
            self.step(table, now())

    def step(self, table: Table, since: float) -> None:
        """Let a table give its next command."""
        self._under_way += 1
        table.step(since)

    def done(self, since: float, played: bool) -> bool:
        """Note that a command is over. Whether to go on."""
        self._under_way -= 1
        window = self._window
        if window is not None and played:
            window.moves += 1
            window.latencies.append(now() - since)
        if not self.running and not self._under_way:
            self._quiet.set()
        return self.running

    def _next_at_once(self, table: Table, since: float, played: bool) -> None:
        if self.done(since, played):
            self.step(table, now())

    async def _measured(self, begin: Callable[[], None], warm: float, seconds: float) -> Window:
        self.running = True
        with _without_collector():
            begin()
            await self._pass(warm)
            window = self._window = Window()
            before, received, busy = self._spent(), self._received(), busy_seconds()
            start = now()
            await self._pass(seconds)
            while not window.moves and now() - start < PATIENCE:
                await self._pass(seconds)
            window.seconds = now() - start
            window.cpu = {name: spent - before[name] for name, spent in self._spent().items()}
            window.all_cpu = busy_seconds() - busy
            window.received = self._received() - received
            self._window = None
            await self._stop()
        return window

    def _spent(self) -> dict[str, float]:
        parts = {name: cpu_seconds(pids) for name, pids in self._parts.items()}
        return {**parts, "load": time.process_time()}

    def _received(self) -> int:
        return sum(table.received for table in self._tables)

    async def _pass(self, seconds: float) -> None:
        await asyncio.wait({self._broken}, timeout=seconds)
        if self._broken.done():
            self._broken.result()

    async def _stop(self, patience: float = PATIENCE) -> None:
        """Begin nothing new, and wait for what is under way."""
        self.running = False
        self._quiet.clear()
        if not self._under_way:
            return
        try:
            async with asyncio.timeout(patience):
                await self._quiet.wait()
        except TimeoutError:
            raise Broken(f"{self._under_way} tables don't go on") from None
        if self._broken.done():
            self._broken.result()


class _Pace:
    """Who plays when."""

    def __init__(self, load: Load, interval: float) -> None:
        self._load = load
        self._interval = interval
        self._loop = asyncio.get_running_loop()
        self._idle: set[Table] = set()
        self._due: dict[Table, deque[float]] = {}

    def begin(self, tables: Sequence[Table]) -> None:
        start = now()
        for number, table in enumerate(tables):
            table.finished = self._finished
            self._due[table] = deque()
            first = self._interval * (number + 1) / len(tables)
            self._loop.call_later(first, self._tick, table, start + first)
            if table.next_is_play:
                self._idle.add(table)
            else:
                self._load.step(table, start)

    def _tick(self, table: Table, due: float) -> None:
        if not self._load.running:
            return
        self._due[table].append(due)
        if table in self._idle:
            self._idle.remove(table)
            self._load.step(table, self._due[table].popleft())
        later = due + self._interval
        self._loop.call_later(max(0.0, later - now()), self._tick, table, later)

    def _finished(self, table: Table, since: float, played: bool) -> None:
        if not self._load.done(since, played):
            return
        due = self._due[table]
        if not table.next_is_play:
            self._load.step(table, now())
        elif due:
            self._load.step(table, due.popleft())
        else:
            self._idle.add(table)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the load's own garbage collector from being measured as the server's delay."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

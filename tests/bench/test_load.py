"""What the load counts, on tables that only pretend to play."""

import asyncio

import pytest

from scopa_bench.line import Broken
from scopa_bench.load import Load
from scopa_bench.table import Table


class Pretended(Table):
    """A table whose plays are over a moment later, unless it `stalls`; it never sits down."""

    def __init__(self, *, stalls: int = 0) -> None:
        super().__init__()
        self.stalls = stalls
        self.since: list[float] = []

    @property
    def next_is_play(self) -> bool:
        """Always."""
        return True

    def step(self, since: float) -> None:
        """Be over soon, or hold it back until some more are due."""
        self.since.append(since)
        loop = asyncio.get_running_loop()
        loop.call_later(0.05 * self.stalls, self.finished, self, since, True)
        self.stalls = 0

    async def open(self, url: str) -> None:
        """Say that it can't, and wait for ever."""
        self.failed(Broken("no seat"))
        await asyncio.Event().wait()


async def test_all_play_all_the_time_until_it_ends() -> None:
    tables = [Pretended(), Pretended()]
    window = await Load(tables, {}).saturated(0.0, 0.05)
    assert window.moves == len(window.latencies) > 0
    assert window.cpu["load"] > 0
    assert all(len(table.since) > 1 for table in tables)
    assert all(table.since == sorted(table.since) for table in tables)


async def test_a_late_play_counts_from_when_it_was_due() -> None:
    table = Pretended(stalls=4)
    await Load([table], {}).paced(100.0, 0.0, 0.4)
    gaps = [later - earlier for earlier, later in zip(table.since, table.since[1:], strict=False)]
    assert gaps
    assert gaps == pytest.approx([0.01] * len(gaps))


async def test_a_lead_is_played_to_its_end_and_no_further() -> None:
    tables = [Pretended(), Pretended()]
    tables[0].lead, tables[1].lead = 3, 1
    await Load(tables, {}).lead_in()
    assert [len(table.since) for table in tables] == [3, 1]


async def test_a_fault_ends_it() -> None:
    table = Pretended()
    load = Load([table], {})
    asyncio.get_running_loop().call_later(0.01, table.failed, Broken("it stopped"))
    with pytest.raises(Broken, match="it stopped"):
        await load.saturated(0.0, 60)


async def test_a_fault_while_sitting_down_ends_it() -> None:
    table = Pretended()
    load = Load([table], {})
    with pytest.raises(Broken, match="no seat"):
        await load.opened(table.open("ws://nowhere"))

"""The whole harness for a moment: what it finds, never how fast."""

from pathlib import Path

import pytest

from scopa_bench import machine, playing
from scopa_bench.goals import judged
from scopa_bench.plan import Plan
from scopa_bench.report import markdown
from scopa_bench.results import Results

MOMENT = Plan(
    tables=(1, 3),
    rounds=1,
    warm=0.0,
    seconds=0.3,
    paces=((3, 20.0),),
    paced_rounds=1,
    paced_seconds=0.3,
    steps=50,
)


@pytest.fixture
def results() -> Results:
    """Nothing found so far."""
    return Results(
        date="2026-11-30 12:00",
        quick=True,
        note="A note.",
        machine=machine.described(),
        versions=machine.versions(),
    )


async def test_every_contender_plays(results: Results, tmp_path: Path) -> None:
    said: list[str] = []
    await playing.measure(MOMENT, tmp_path, machine.cores(), results, said.append)
    assert len(said) == 3
    tried = {row.contender for row in results.rows}
    assert {"SQLite, json", "relay by send", "relay by frames"} <= tried
    assert {(row.tables, row.pace) for row in results.rows} == {(1, None), (3, None), (3, 20.0)}
    assert all(row.rate > 0 and row.p99_ms >= row.p50_ms > 0 for row in results.rows)
    assert all(row.cpu_us["server"] > 0 and row.cpu_us["load"] > 0 for row in results.rows)
    results.goals = judged(results)
    assert "| SQLite, json | 3 x 20 |" in markdown(results)

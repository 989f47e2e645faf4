"""The whole harness for a moment: what it finds, never how fast."""

from pathlib import Path

import pytest

from scopa_bench import machine
from scopa_bench.__main__ import measured
from scopa_bench.contenders import OTHERS
from scopa_bench.goals import judged
from scopa_bench.plan import Plan
from scopa_bench.report import markdown
from scopa_bench.results import Results

MOMENT = Plan(
    others=tuple(name for name in OTHERS if "everysec" not in name),
    tables=(2,),
    rounds=1,
    warm=0.0,
    seconds=0.15,
    paces=((2, 20.0),),
    paced_rounds=1,
    paced_seconds=0.15,
    steps=46,
    deals_seconds=0.01,
    starts=1,
    connections=20,
    rooms=2,
    old_rooms=1,
    old_commits=50,
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
    await measured(MOMENT, tmp_path, machine.cores(), results, said.append)
    assert len(said) == 5 + len({"SQLite, json", *MOMENT.others})
    assert {row.contender for row in results.rows} == {"SQLite, json", *MOMENT.others}
    assert {(row.tables, row.pace) for row in results.rows} == {(2, None), (2, 20.0)}
    assert all(row.rate > 0 and row.p99_ms >= row.p50_ms > 0 for row in results.rows)
    assert all(row.cpu_us["server"] > 0 and row.cpu_us["load"] > 0 for row in results.rows)
    results.goals = judged(results)
    assert {figure.name for figure in results.figures if figure.value <= 0} <= {"live room of four"}
    assert "| SQLite, json | 2 x 20 |" in markdown(results)

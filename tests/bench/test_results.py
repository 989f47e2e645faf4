"""Medians, goals and what is written of them."""

from array import array

import msgspec
import pytest

from scopa_bench.goals import judged
from scopa_bench.load import Window
from scopa_bench.plan import FULL
from scopa_bench.report import markdown
from scopa_bench.results import Figure, Goal, Results, Row, row


def window(moves: int, *milliseconds: float) -> Window:
    """A second in which so much was played."""
    latencies = array("d", [each / 1e3 for each in milliseconds])
    return Window(seconds=1.0, moves=moves, latencies=latencies, cpu={"server": 0.5, "load": 0.1})


def found(contender: str, tables: int, rate: int, pace: float | None = None) -> Row:
    """A row from one window."""
    return row(contender, tables, pace, [window(rate, 1.0)])


def results(*rows: Row) -> Results:
    """A run that found these."""
    return Results(
        date="2026-11-30 12:00", quick=False, note="", machine={}, versions={}, rows=list(rows)
    )


def test_a_row_holds_the_medians_of_its_windows() -> None:
    windows = [window(100, 1, 2, 9), window(400, 4, 5, 6), window(200, 3, 3, 7)]
    made = row("SQLite, json", 10, None, windows)
    assert made.rate == 200
    assert made.rates == [100, 400, 200]
    assert made.cpu_us == {"server": 2500.0, "load": 500.0}
    assert (made.p50_ms, made.p99_ms) == (3.0, 7.0)


@pytest.mark.parametrize(
    ("value", "most", "verdict"),
    [
        (None, False, "not measured"),
        (0.6, False, "missed"),
        (0.7, False, "must"),
        (1.2, False, "aim"),
        (0.6, True, "aim"),
        (0.9, True, "missed"),
    ],
)
def test_a_goal_is_judged(value: float | None, most: bool, verdict: str) -> None:
    bounds = (0.7, 1.0) if not most else (0.8, 0.7)
    goal = Goal(name="a", must=bounds[0], aim=bounds[1], unit="x", most=most, value=value)
    assert goal.verdict == verdict


def test_goals_are_ratios_within_one_run() -> None:
    run = results(found("SQLite, json", 100, 800), found("relay by send", 100, 1000))
    goals = {goal.name: goal for goal in judged(run)}
    reached = goals["moves/s: SQLite, json against relay by send, 100 tables"]
    assert reached.value == reached.by_cpu == pytest.approx(0.8)
    assert reached.verdict == "must"
    assert goals["moves/s: SQLite, json against relay by send, 500 tables"].value is None


def test_two_workers_are_held_against_what_the_cores_allow() -> None:
    one = found("Redis always, json", 500, 2000)
    two = found("Redis always, json, 2 workers", 500, 2800)
    run = results(one, two)
    run.machine = {"cores": 2}
    run.goals = judged(run)
    (goal,) = (goal for goal in run.goals if "workers" in goal.name)
    assert goal.value == pytest.approx(1.4)
    assert goal.ceiling == pytest.approx(2e6 / sum(two.cpu_us.values()) / 2000)
    assert f"1.4 x (1.4 by processor time); these cores allow {goal.ceiling:.3g}" in markdown(run)


def test_the_report_says_each_goal_once_and_how_it_stands() -> None:
    run = results(found("SQLite, json", 500, 2000, 4.0))
    run.goals = judged(run)
    text = markdown(run)
    assert "| SQLite, json | 500 x 4 | 2,000 |" in text
    assert "| [x] aim | p99, 500 tables x 4 moves/s |" in text
    assert text.count("| - |") == len(run.goals) - 1


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    run = results(found("SQLite, json", 500, 2000, 4.0), found("SQLite, json", 1, 10))
    run.figures.append(Figure(name="server ready", value=0.4, unit="s"))
    run.goals = judged(run)
    for table in markdown(run).split("## ")[1:]:
        cells = {line.count("|") for line in table.splitlines() if line.startswith("|")}
        assert len(cells) == 1


def test_results_are_read_back() -> None:
    run = results(found("SQLite, json", 1, 10))
    assert msgspec.json.decode(msgspec.json.encode(run), type=Results) == run


def test_a_plan_gives_up_the_most_tables_first_where_few_files_are_allowed() -> None:
    assert FULL.within(FULL.files) is FULL
    fitting = FULL.within(4096)
    assert fitting.tables == (1, 10, 100)
    assert fitting.paces == ()
    assert fitting.files <= 4096

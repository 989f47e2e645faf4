"""What a soak complains of."""

from collections import Counter
from dataclasses import replace

import pytest

from soak.gauges import Course, Reading, metric
from soak.line import Frame
from soak.tables import Tally

IDLE = Reading(resident_mb=50, connections=0, rooms=0, files=14)
BUSY = Reading(resident_mb=90, connections=300, rooms=200, files=330)
TASKS = {"_main": 1}


def course(**changes: object) -> Course:
    """A run in which nothing was wrong, but for the changes."""
    sound = Course(
        idle=IDLE, idle_tasks=TASKS, loaded=[BUSY] * 8, left=replace(IDLE, resident_mb=89),
        left_tasks=TASKS, log=Counter({"info room_opened": 9, "warning not_listening": 1}),
    )  # fmt: skip
    return replace(sound, **changes)  # type: ignore[arg-type]


def test_a_sound_run_is_passed() -> None:
    assert course().complaints() == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"loaded": [replace(BUSY, resident_mb=80 + 4 * n) for n in range(8)]}, "memory grew"),
        ({"left": replace(IDLE, resident_mb=100)}, "are taken with nobody there"),
        ({"left": replace(IDLE, connections=2)}, "2 connections left over"),
        ({"left": replace(IDLE, rooms=1)}, "1 rooms left over"),
        ({"left": replace(IDLE, files=17)}, "3 files left over"),
        ({"left": None}, "nobody looked"),
        ({"left_tasks": {"_main": 1, "Room.run": 2}}, "2 tasks left over: Room.run"),
        ({"log": Counter({"error room_fault": 3})}, "logged 3 times: error room_fault"),
        ({"faults": Counter({"play: internal_error": 1})}, "met 1 times: play: internal_error"),
        ({"status": 1}, "exit status was 1"),
    ],
)
def test_whatever_is_wrong_is_said(changes: dict[str, object], words: str) -> None:
    [complaint] = course(**changes).complaints()
    assert words in complaint


def test_a_metric_is_summed_over_its_labels() -> None:
    page = 'a_b 1.0\na_b_c 7.0\nx{k="1"} 2.0\nx{k="2"} 3.5\n'
    assert metric(page, "a_b") == 1
    assert metric(page, "x") == 5.5


def test_refusals_that_racing_people_meet_are_no_faults() -> None:
    tally = Tally()
    for code in ("stale", "internal_error", "stale"):
        tally.answered("play", Frame(type="error", re=1, code=code), 0.1)
    assert tally.faults == {"play: internal_error": 1}
    assert tally.counts["play"] == 3

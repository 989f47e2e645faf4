"""That what is measured is sent whole, from every stage, and is counted."""

from collections import Counter

import pytest

from fuzz import dearest
from scopa_protocol.codec import MAX_FRAME, Format


@pytest.mark.parametrize("fmt", list(dearest.ENCODE))
def test_frames_are_as_big_as_may_be_and_new_in_each_round(fmt: Format) -> None:
    first, second = (dict(dearest.frames(fmt, number, "KRTNWXYZ")) for number in (1, 2))
    assert first.keys() == second.keys()
    sizes = [len(first[what]) for what, _ in dearest.kinds(1, "KRTNWXYZ")]
    assert all(MAX_FRAME - 16 <= size <= MAX_FRAME for size in sizes)
    named = [what for what in first if what.endswith("a name of Han")]
    assert len(named) == 3
    assert all(first[what] != second[what] for what in named)


def test_every_frame_is_answered_and_counted_from_every_stage() -> None:
    costs = dearest.dearest(rounds=1)
    stages = Counter((cost.stage, cost.fmt) for cost in costs)
    assert len(stages) == len(dearest.STAGES) * len(dearest.ENCODE)
    assert min(stages.values()) > 100
    assert all(cost.stretch > 0 for cost in costs)
    assert costs == sorted(costs, reverse=True)

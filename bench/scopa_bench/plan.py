"""What a run measures, and for how long."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Sizes of a run. Times in seconds; `paces`: tables and cards a second at each."""

    tables: tuple[int, ...]
    rounds: int
    warm: float
    seconds: float
    paces: tuple[tuple[int, float], ...]
    paced_rounds: int
    paced_seconds: float
    steps: int
    """Commands of a real table that the relay moves again: several deals."""


FULL = Plan(
    tables=(1, 10, 100, 500),
    rounds=3,
    warm=0.5,
    seconds=2.0,
    paces=((500, 1.0), (500, 4.0)),
    paced_rounds=2,
    paced_seconds=5.0,
    steps=220,
)
QUICK = Plan(
    tables=(10, 100),
    rounds=2,
    warm=0.3,
    seconds=1.0,
    paces=((100, 4.0),),
    paced_rounds=1,
    paced_seconds=2.0,
    steps=220,
)

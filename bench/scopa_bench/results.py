"""What a run found, as it is written down."""

from collections.abc import Sequence
from statistics import median

from msgspec import Struct, field

from .load import Window


class Row(Struct, frozen=True, kw_only=True):
    """One contender with so many tables: medians over its windows.

    `pace`: cards a second at each table; None: as many as it takes (saturation). `others`: how much
    of a core other programs took meanwhile.
    """

    contender: str
    tables: int
    pace: float | None
    rate: float
    rates: list[float]
    cpu_us: dict[str, float]
    p50_ms: float
    p99_ms: float
    kib_a_move: float
    others: float


class Figure(Struct, frozen=True, kw_only=True):
    """Any other figure."""

    name: str
    value: float
    unit: str
    note: str = ""


class Goal(Struct, frozen=True, kw_only=True):
    """What is to be reached, and what was. `value` None: this run didn't measure it.

    `by_cpu`: the same ratio by processor time, which other programs disturb less. `ceiling`: the
    most that the machine's cores allow.
    """

    name: str
    must: float
    aim: float
    unit: str
    most: bool
    value: float | None
    by_cpu: float | None = None
    ceiling: float | None = None

    @property
    def verdict(self) -> str:
        """Where the value stands."""
        if self.value is None:
            return "not measured"
        if self._reaches(self.aim):
            return "aim"
        return "must" if self._reaches(self.must) else "missed"

    def _reaches(self, bound: float) -> bool:
        assert self.value is not None
        return self.value <= bound if self.most else self.value >= bound


class Results(Struct, kw_only=True):
    """One run."""

    date: str
    quick: bool
    note: str
    machine: dict[str, object]
    versions: dict[str, str]
    rows: list[Row] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)

    def row(self, contender: str, tables: int, pace: float | None = None) -> Row | None:
        """A row, if it was measured."""
        for row in self.rows:
            if (row.contender, row.tables, row.pace) == (contender, tables, pace):
                return row
        return None

    def figure(self, name: str) -> float | None:
        """A figure, if it was measured."""
        return next((figure.value for figure in self.figures if figure.name == name), None)


def row(contender: str, tables: int, pace: float | None, windows: Sequence[Window]) -> Row:
    """The medians of some windows."""
    parts = windows[0].cpu
    return Row(
        contender=contender,
        tables=tables,
        pace=pace,
        rate=round(median(window.rate for window in windows), 1),
        rates=[round(window.rate, 1) for window in windows],
        cpu_us={
            part: round(median(window.cpu_us(part) for window in windows), 1) for part in parts
        },
        p50_ms=round(median(window.latency_ms(0.5) for window in windows), 3),
        p99_ms=round(median(window.latency_ms(0.99) for window in windows), 3),
        others=round(median(window.others for window in windows), 2),
        kib_a_move=round(median(window.kib_a_move for window in windows), 1),
    )

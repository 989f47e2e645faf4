"""What a run measures, and for how long."""

from dataclasses import dataclass, replace

from .contenders import OTHERS
from .table import DEAL, SEATS


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Sizes of a run. Times in seconds; `paces`: tables and cards a second at each.

    `others`: what is measured beside the server on SQLite. `figures`: whether all but play is, too.
    """

    others: tuple[str, ...]
    tables: tuple[int, ...]
    rounds: int
    warm: float
    seconds: float
    paces: tuple[tuple[int, float], ...]
    paced_rounds: int
    paced_seconds: float
    steps: int
    """Commands of a real table that the relay moves again: several deals."""
    deals_seconds: float
    starts: int
    connections: int
    rooms: int
    old_rooms: int
    old_commits: int = 1000
    figures: bool = True

    @property
    def files(self) -> int:
        """Open files at once: the connections of all contenders, and some more."""
        tables = max((*self.tables, *(number for number, _ in self.paces)))
        return max(tables * SEATS * (1 + len(self.others)), self.connections) + 200

    def within(self, files: int) -> "Plan":
        """The plan without the most tables, as far as so many open files make it necessary."""
        fitting = self
        while fitting.files > files and len(fitting.tables) > 1:
            most = fitting.tables[-1]
            fitting = replace(
                fitting,
                tables=fitting.tables[:-1],
                paces=tuple(pace for pace in fitting.paces if pace[0] < most),
                connections=min(fitting.connections, files // 2),
            )
        return fitting


FULL = Plan(
    others=tuple(OTHERS),
    tables=(1, 10, 100, 500),
    rounds=3,
    warm=0.5,
    seconds=2.0,
    paces=((500, 1.0), (500, 4.0)),
    paced_rounds=2,
    paced_seconds=4.0,
    steps=4 * DEAL,
    deals_seconds=1.0,
    starts=5,
    connections=2000,
    rooms=150,
    old_rooms=11,
)
QUICK = Plan(
    others=("relay by send", "relay by frames", "Redis always, json"),
    tables=(10, 100),
    rounds=2,
    warm=0.2,
    seconds=0.7,
    paces=((100, 4.0),),
    paced_rounds=1,
    paced_seconds=2.0,
    steps=4 * DEAL,
    deals_seconds=0.3,
    starts=3,
    connections=500,
    rooms=150,
    old_rooms=3,
)
PEERS = replace(
    FULL,
    others=("relay by send", "boardgame.io", "Colyseus, messages", "Colyseus, schema"),
    tables=(100, 500),
    paces=((500, 4.0),),
    figures=False,
)
QUICK_PEERS = replace(QUICK, others=PEERS.others, tables=(100,), figures=False)

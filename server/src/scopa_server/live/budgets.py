"""What addresses may still change and how fast tables may go on, as one process counts."""

from operator import itemgetter
from typing import Final, Generic, TypeVar

from scopa_server.allowance import Allowance
from scopa_server.metrics import Limit

from .answers import too_fast
from .surroundings import Surroundings

MINUTE: Final = 60.0
DAY: Final = 86_400.0
AT_ONCE: Final = 10
"""Minutes' worth of a table's moves that may come at once."""
KEPT: Final = 10_000
"""Tables, addresses, and addresses at a table, that are remembered."""

_TOO_MUCH: Final = {
    Limit.CHANGES: "This table is changed too often from here; wait a little.",
    Limit.MOVES: "This table goes on faster than anybody plays; wait a little.",
    Limit.ADDRESS_CHANGES: "More was changed from here than a day allows; wait a little.",
}
_Who = TypeVar("_Who")


class Budgets:
    """Of each address its day, of each table its pace, and of each address its pace at a table."""

    def __init__(self, around: Surroundings) -> None:
        self._bounds = bounds = around.bounds
        moves, changes = bounds.max_moves_per_minute, bounds.max_changes_per_minute
        self._time = around.time
        self._metrics = around.metrics
        self._days = _Allowances[str](bounds.max_changes_per_day, DAY)
        self._moves = _Allowances[str](AT_ONCE * moves, AT_ONCE * MINUTE)
        self._changes = _Allowances[tuple[str, str]](changes, MINUTE)

    def change(self, room: str, address: str, *, local: bool = False) -> None:
        """Count a change of a table that is no card. Raises Refused: too_fast."""
        if not self._bounds.holds("max_changes_per_minute", local=local):
            return
        now = self._time.now()
        seconds = self._changes.of((room, address), now).take(now)
        if seconds:
            self.refuse(Limit.CHANGES, seconds)

    def lacks(
        self, room: str, address: str, commits: int, *, local: bool = False
    ) -> tuple[Limit, float] | None:
        """Take commits of a room out of an address's day, unless there are too few.

        If so, by which limit, and how many seconds until there are enough.
        """
        now = self._time.now()
        allowances = dict[Limit, Allowance]()
        if self._bounds.holds("max_changes_per_day", local=local):
            allowances[Limit.ADDRESS_CHANGES] = self._days.of(address, now)
        if self._bounds.holds("max_moves_per_minute", local=local):
            allowances[Limit.MOVES] = self._moves.of(room, now)
        waits = [(limit, left.lacks(commits, now)) for limit, left in allowances.items()]
        longest = max(waits, key=itemgetter(1), default=None)
        if longest is not None and longest[1]:
            return longest
        for left in allowances.values():
            left.draw(commits, now)
        return None

    def pay(self, room: str, address: str, commits: int, *, local: bool = False) -> None:
        """Take commits. Raises Refused: too_fast."""
        lacking = self.lacks(room, address, commits, local=local)
        if lacking is not None:
            self.refuse(*lacking)

    def talk(self, address: str, commits: int, *, local: bool = False) -> None:
        """Take what is said out of an address's day alone: a table plays on as it is talked at.

        Raises Refused: too_fast.
        """
        if not self._bounds.holds("max_changes_per_day", local=local):
            return
        now = self._time.now()
        day = self._days.of(address, now)
        seconds = day.lacks(commits, now)
        if seconds:
            self.refuse(Limit.ADDRESS_CHANGES, seconds)
        day.draw(commits, now)

    def refuse(self, limit: Limit, seconds: float) -> None:
        """Say that a limit is met, and for how long. Raises Refused: too_fast."""
        self._metrics.limited(limit)
        raise too_fast(_TOO_MUCH[limit], seconds)


class _Allowances(Generic[_Who]):
    """For each of many `burst` in so many seconds; who owes nothing is forgotten first."""

    def __init__(self, burst: int, seconds: float) -> None:
        self._burst = burst
        self._each = seconds / burst
        self._all: dict[_Who, Allowance] = {}

    def of(self, who: _Who, now: float) -> Allowance:
        found = self._all.get(who)
        if found is None:
            if len(self._all) >= KEPT:
                self._forget(now)
            found = self._all[who] = Allowance(self._burst, self._each)
        return found

    def _forget(self, now: float) -> None:
        owing = [(who, left) for who, left in self._all.items() if not left.is_whole(now)]
        # If nearly all of them owe something, the oldest go.
        self._all = dict(owing[-(KEPT * 3 // 4) :])

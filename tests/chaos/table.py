"""A table of people and bots, and everything that anybody there was shown."""

import asyncio
import math
import random
from collections.abc import Sequence
from itertools import count
from time import monotonic
from typing import Final

from scopa_protocol import commands as c
from scopa_protocol.views import View
from support.tables import NAMES, token

from .people import Person, plain

GAMES: Final = ("scopone_scientifico", "scopa", "cirulla", "napola", "scopa_dassi")
SETTINGS: Final = {"pace_ms": 20, "next_deal_seconds": 0, "watchers": "table"}
SEATS: Final = 4


class Table:
    """One room. People sit at seats 0 and 2, through different doors, bots between them.

    `doors`: where the first comes in; the second begins at the next.
    """

    def __init__(self, number: int, doors: Sequence[str], seed: int) -> None:
        self.number = number
        self.seed = seed
        self.code = ""
        self.people: list[Person] = []
        self.watchers: list[Person] = []
        self.shown: dict[tuple[int | None, str, int], View] = {}
        self.contradictions: list[str] = []
        self.logs: set[str] = set()
        self.least_seconds = math.inf
        """The least that anybody was shown to be left of a turn."""
        self._lost_logs: frozenset[str] = frozenset()
        self.kept: int | None = None
        """The store has lost what came after this commit, as its settings allow."""
        self.lost_until = 0.0
        self._doors = list(doors)
        self._looks = count(1)
        self._tasks: list[asyncio.Task[None]] = []

    # Coming and going

    async def open(self) -> None:
        """Seat everybody and begin the match."""
        chance = random.Random(self.seed)
        rules = {"variant": chance.choice(GAMES), "players": SEATS}
        host = self._person(
            0, c.Create(name=NAMES[0], rules=rules, settings=SETTINGS, token=self.token(0))
        )
        await host.connect()
        self.code = host.view.room
        guest = self._person(2, c.Join(room=self.code, name=NAMES[2], seat=2, token=self.token(2)))
        await guest.connect()
        for seat in (1, 3):
            await host.do(c.SeatBot(seat=seat))
        await host.do(c.Start())
        self.people = [host, guest]
        self.watchers = [
            Person(f"Ugo {number}", [door], self.watch(number), self.note, seed=number)
            for number, door in enumerate(dict.fromkeys(self._doors))
        ]
        self._tasks = [asyncio.create_task(each.live()) for each in (*self.people, *self.watchers)]

    def _person(self, seat: int, entering: c.Create | c.Join) -> Person:
        turned = (seat // 2) % len(self._doors)
        doors = self._doors[turned:] + self._doors[:turned]
        return Person(NAMES[seat], doors, entering, self.note, seed=self.seed + seat)

    def token(self, seat: int) -> str:
        """The token of a seat."""
        return f"{token(seat)}-{self.seed}-{self.number}"

    def resume(self, seat: int) -> c.Resume:
        """How a seat's person comes back."""
        return c.Resume(room=self.code, token=self.token(seat))

    def watch(self, number: int) -> c.Watch:
        """How somebody watches."""
        return c.Watch(room=self.code, name=f"Ugo {number}")

    def look(self) -> c.Watch:
        """How somebody watches for a moment, under a name of its own."""
        return c.Watch(room=self.code, name=f"Eva {next(self._looks)}")

    async def close(self) -> None:
        """Everybody's line ends, without a word."""
        for task in self._tasks:
            task.cancel()
        ended = await asyncio.gather(*self._tasks, return_exceptions=True)
        for person in (*self.people, *self.watchers):
            person.abandon()
        faults = [each for each in ended if isinstance(each, Exception)]
        if faults:
            raise ExceptionGroup(f"table {self.code}", faults)

    # What was shown

    def note(self, who: Person, view: View) -> None:
        """Keep what somebody was shown; the same state must always look the same."""
        del who
        seen = plain(view)
        self.logs.add(view.log)
        if view.clock is not None and view.clock.kind == "turn":
            self.least_seconds = min(self.least_seconds, view.clock.left_ms / 1000)
        before = self.shown.setdefault((view.you, view.log, view.seq), seen)
        if before != seen:
            self.contradictions.append(f"seat {view.you} was shown {view.seq} in two ways")

    def forgive(self, kept: int) -> int:
        """The store lost what came after commit `kept`; how many commits shown were among it."""
        self.kept, self.lost_until = kept, monotonic()
        self._lost_logs = frozenset(self.logs)
        return len({seq for _, log, seq in self.shown if self.is_forgiven(log, seq)})

    def is_forgiven(self, log: str, seq: int) -> bool:
        """Whether a view is of what the store has lost."""
        return self.kept is not None and seq > self.kept and log in self._lost_logs

    @property
    def top(self) -> int:
        """The newest commit that anybody was shown."""
        return max(seq for _, _, seq in self.shown)

    # Playing

    def rest(self, resting: bool = True) -> None:
        """Let nobody begin anything, or let them play again."""
        for person in self.people:
            person.resting = resting

    @property
    def over(self) -> list[str]:
        """Why people's table ended, if it did."""
        return [person.over for person in self.people if person.over is not None]

    def accepted_since(self, moment: float) -> list[float]:
        """When each person's first play was accepted of those sent after a moment, if one was."""
        times = [
            [play.answered for play in person.accepted if play.sent >= moment]
            for person in self.people
        ]
        return [min(each) for each in times if each]

    def all_played_since(self, moment: float) -> bool:
        """Whether everybody had a play accepted that was sent after a moment."""
        return len(self.accepted_since(moment)) == len(self.people)

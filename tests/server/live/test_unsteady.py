"""Cards that people send at once, to a store that is slow, fails and forgets to answer."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable

import pytest
from msgspec.structs import replace

from scopa_protocol import commands as c
from scopa_protocol.frames import Error, HistoryFrame, Update
from scopa_server.journal.interface import Draft, Stored, Taken, Unavailable, Unresolved
from scopa_server.room.refused import Refused
from support.house import Guest, House, legal
from support.memory_journal import MemoryJournal

TURNS = (0, 1, 3, 20)
"""Turns of the loop that an answer takes."""


class Unsteady(MemoryJournal):
    """A store in memory that takes its time. `bad`: how likely it is to fail."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self.chance = chance
        self.bad = 0.0
        self.under_way = Counter[str]()
        self.most = 0
        """Commits of one room that were under way at once."""

    def append(
        self, room: str, draft: Draft, *, header: bytes | None, ttl: int
    ) -> Awaitable[Stored | Taken]:
        """Compare and append, some time."""
        self.under_way[room] += 1
        self.most = max(self.most, self.under_way[room])
        return self._some_time(room, draft, header)

    async def _some_time(self, room: str, draft: Draft, header: bytes | None) -> Stored | Taken:
        try:
            await self._wait()
            roll = self.chance.random()
            if roll < self.bad:
                raise Unavailable("down")
            outcome = self._append(room, draft, header)
            if roll > 1 - self.bad / 50:
                raise Unresolved("it is in the log, but who knows")
            await self._wait()
            return outcome
        finally:
            self.under_way[room] -= 1

    async def _wait(self) -> None:
        for _ in range(self.chance.choice(TURNS)):
            await asyncio.sleep(0)


class Asking(Guest):
    """A guest who numbers what it sends, and counts what is answered."""

    def __init__(self, house: House, guest: Guest) -> None:
        super().__init__(house)
        self.visitor, self.frames = guest.visitor, guest.frames
        self.sent = 0
        self.answers = Counter[int]()

    def send(self, command: c.Command) -> None:
        """Send a command, and wait for nothing."""
        live = self.visitor.room
        assert live is not None
        try:
            if live.ask(self.visitor, replace(command, id=self.sent + 1)):
                self.sent += 1
        except Refused:
            assert self.closing is not None

    def count(self) -> None:
        """Count the answers that have come."""
        for frame in self.read():
            if isinstance(frame, Update):
                self.answers.update(frame.re or ())
            elif isinstance(frame, Error | HistoryFrame) and frame.re is not None:
                self.answers[frame.re] += 1


def do_something(guest: Asking, chance: random.Random) -> None:
    """A card, perhaps several times, or anything else."""
    guest.count()
    view, commands = guest.view, list[c.Command]()
    if view.options and chance.random() < 0.8:
        commands = [legal(guest, chance)] * chance.choice((1, 1, 2, 5))
    elif view.phase == "deal_over":
        commands = [c.Ready(deal=view.deal)]
    elif chance.random() < 0.3:
        nonsense = c.Play(deal=view.deal, turn=view.turn, card="7D", take=[])
        others = [nonsense, c.Pause(), c.Unpause(), c.Unpause(), c.Say(text="ciao"), c.History()]
        commands = [chance.choice(others)]
    for command in commands:
        guest.send(command)


async def come_in(house: House, code: str) -> list[Asking]:
    """Everybody comes back."""
    return [Asking(house, await house.resume(code, seat)) for seat in range(4)]


@pytest.mark.parametrize("seed", range(12))
async def test_each_command_is_answered_once_and_the_game_goes_on(seed: int) -> None:
    chance = random.Random(seed)
    house = House(Unsteady(chance), seed=seed)
    journal = house.journal
    assert isinstance(journal, Unsteady)
    settings = {"turn_seconds": chance.choice((0, 5)), "talk": "always", "watchers": "table"}
    code = (await house.table(settings=settings))[0].code
    guests = await come_in(house, code)
    journal.bad = chance.choice((0, 0.1, 0.3))
    for _ in range(200):
        do_something(chance.choice(guests), chance)
        for _ in range(chance.choice(TURNS)):
            await asyncio.sleep(0)
        if chance.random() < 0.05:
            house.time.advance(2)
        if any(guest.closing for guest in guests):
            await house.quiet()
            guests = await come_in(house, code)
    journal.bad = 0
    for _ in range(10):
        await house.pass_time(1)
    for guest in guests:
        guest.count()
        assert guest.answers == dict.fromkeys(range(1, guest.sent + 1), 1)
        assert guest.visitor.asked == 0
    guests = await come_in(house, code)
    before = guests[0].view.seq
    for guest in guests * 8:
        guest.send(c.Unpause())
        await house.pass_time(1)
        do_something(guest, chance)
        await house.pass_time(1)
    assert journal.most == 1
    assert guests[0].view.seq > before + 8
    assert {guest.view.seq for guest in guests} == {len(journal.logs[code])}

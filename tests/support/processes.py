"""Several processes that show one room, on time that is moved by hand, each at its own pace."""

import copy
from typing import Any

from scopa_protocol import commands as c
from scopa_server.room import events as e
from support.fake_time import FakeTime
from support.house import Guest, House
from support.memory_journal import MemoryJournal

SEATS = 4


class Processes:
    """Houses on one store, in the order in which they act. `wall`: the store's own time."""

    def __init__(self, count: int) -> None:
        self.wall = FakeTime()
        self.journal = MemoryJournal(lambda: int(self.wall.now() * 1000))
        self.journal.is_shared = True
        houses = [self._house(number) for number in range(count)]
        self.houses = sorted(houses, key=lambda house: house.rooms.process)
        self.guests: list[Guest] = []

    def _house(self, seed: int) -> House:
        # A connection of its own to what all of them share.
        return House(copy.copy(self.journal), seed=seed)

    def joined(self) -> House:
        """One more process."""
        self.houses.append(self._house(len(self.houses)))
        return self.houses[-1]

    async def table(self, **settings: Any) -> None:
        """Four people, and one who watches through each process; a match begun."""
        host = await self.houses[0].host(settings={"watchers": "table", **settings}, target=50)
        self.guests = [host]
        for seat in range(1, SEATS):
            house = self.houses[seat % len(self.houses)]
            self.guests.append(await house.join(self.code, seat))
        await self.watched()
        await host.do(c.Start())

    async def watched(self) -> None:
        """Somebody watches through each process, so that each has a reason to act."""
        for number, house in enumerate(self.houses):
            await house.enter(c.Watch(room=self.code, name=f"Watcher {number}"))

    @property
    def code(self) -> str:
        """The room's code."""
        return self.guests[0].code

    @property
    def awaited(self) -> Guest:
        """Whose card the table waits for."""
        seat = self.guests[0].view.to_play
        assert seat is not None
        return self.guests[seat]

    @property
    def log(self) -> list[e.LogEvent]:
        """Every event in the store."""
        commits = self.journal.logs[self.code]
        return [event for commit in commits for event in e.read_events(commit.payload)]

    def stored(self, kind: type) -> int:
        """How many events of a kind are in the store."""
        return sum(isinstance(event, kind) for event in self.log)

    async def play(self) -> None:
        """The seat to play plays its first card that it may."""
        guest = self.awaited
        view = guest.view
        assert view.options is not None
        card, takes = next(iter(view.options.items()))
        take = takes[0] if takes else []
        await guest.do(c.Play(deal=view.deal, turn=view.turn, card=card, take=take))
        await guest.house.quiet()

    async def deal_out(self) -> None:
        """Play until the deal is over."""
        while self.guests[0].view.phase == "playing":
            await self.play()

    async def drop(self, guest: Guest) -> None:
        """Somebody loses the connection, and every process hears of it."""
        await guest.drop()
        await guest.house.quiet()

    async def pass_time(self, seconds: float, *only: House) -> None:
        """Let time pass in all processes alike, or in some while the others hang."""
        while seconds > 0:
            step = min(seconds, 0.5)
            seconds -= step
            self.wall.advance(step)
            for house in only or self.houses:
                await house.pass_time(step)

    async def restart(self, *, killed: bool) -> None:
        """End every process, by a signal or as a crash would; one new one, with the same people."""
        here = [guest.view.you for guest in self.guests if not guest.visitor.gone]
        code = self.code
        for house in self.houses:
            if not killed:
                await house.rooms.stop()
            house.journal.down = True
        self.journal.notes.clear()
        self.houses = [self._house(99)]
        self.wall.advance(300)
        resumed = [await self.houses[0].resume(code, seat) for seat in here if seat is not None]
        self.guests = resumed
        await self.watched()

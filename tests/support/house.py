"""Live rooms without sockets: visitors whose outboxes are read directly."""

import asyncio
import random
from typing import Any, TypeVar

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK
from scopa_protocol.frames import Error, Joined, ServerFrame, Update
from scopa_protocol.views import View
from scopa_server.bounds import Bounds
from scopa_server.journal import Journal
from scopa_server.live import showing
from scopa_server.live.ledger import Lifetimes
from scopa_server.live.outbox import Closing
from scopa_server.live.rooms import Rooms
from scopa_server.live.surroundings import Surroundings
from scopa_server.live.visitor import Visitor
from scopa_server.metrics import Metrics
from scopa_server.stand_in.act import act
from support.fake_time import FakeTime
from support.memory_journal import MemoryJournal
from support.tables import NAMES, shuffles, token

F = TypeVar("F", bound=ServerFrame)


class Guest:
    """A connection and what it was sent."""

    def __init__(self, house: "House") -> None:
        self.house = house
        self.visitor = Visitor("ws://table.example")
        self.frames: list[ServerFrame | Closing] = []

    def read(self) -> list[ServerFrame | Closing]:
        """Take what waits in the outbox; gives it."""
        fresh: list[ServerFrame | Closing] = []
        while (item := self.visitor.outbox.take()) is not None:
            fresh.append(_read(item) if isinstance(item, showing.Update) else item)
        self.frames += fresh
        return fresh

    @property
    def view(self) -> View:
        """The latest view."""
        self.read()
        views = [f.view for f in self.frames if isinstance(f, Joined | Update)]
        return views[-1]

    @property
    def code(self) -> str:
        """The room's code."""
        return self.view.room

    def latest(self, kind: type[F]) -> F:
        """The latest frame of a kind."""
        self.read()
        return [frame for frame in self.frames if isinstance(frame, kind)][-1]

    @property
    def closing(self) -> Closing | None:
        """How the connection ends."""
        return self.visitor.outbox.closing

    async def do(self, command: c.Command) -> list[ServerFrame | Closing]:
        """Send a command, wait for the house to be quiet; gives what came."""
        await self.house.rooms.ask(self.visitor, command)
        await self.house.quiet()
        return self.read()

    async def refused(self, command: c.Command) -> str:
        """Send a command that is refused; gives the code."""
        for frame in await self.do(command):
            if isinstance(frame, Error):
                return frame.code
        raise AssertionError("nothing was refused")

    async def drop(self) -> None:
        """The connection is lost."""
        self.visitor.gone = True
        if self.visitor.room is not None:
            self.visitor.room.drop(self.visitor)
        await self.house.quiet()


def _read(update: showing.Update) -> Update:
    """The update as its client reads it."""
    frame = JSON.decode_frame(b"".join(update.encoded(JSON)))
    assert isinstance(frame, Update)
    assert MSGPACK.decode_frame(b"".join(update.encoded(MSGPACK))) == frame
    return frame


class House:
    """Rooms on a store in memory (or another, `store`), with time that stands still."""

    def __init__(
        self,
        journal: MemoryJournal | None = None,
        *,
        seed: int = 0,
        bounds: Bounds | None = None,
        access_key: str | None = None,
        lifetimes: Lifetimes | None = None,
        store: Journal | None = None,
    ) -> None:
        self.time = FakeTime()
        # Time stands still: what comes in a test comes all at once.
        self.bounds = bounds or Bounds(
            max_frames_per_second=100_000,
            max_talk_per_minute=10_000,
            max_changes_per_minute=10_000,
            max_moves_per_minute=10_000,
        )
        self.journal = journal or MemoryJournal(lambda: int(self.time.now() * 1000))
        self.metrics = Metrics()
        self.rooms = Rooms(
            store or self.journal,
            Surroundings(
                time=self.time,
                shuffles=shuffles(seed),
                player=act,
                metrics=self.metrics,
                bounds=self.bounds,
            ),
            lifetimes=lifetimes or Lifetimes(),
            access_key=access_key,
        )

    async def quiet(self) -> None:
        """Let every task run until it waits for something."""
        for _ in range(60):
            await asyncio.sleep(0)

    async def pass_time(self, seconds: float) -> None:
        """Let time pass in small steps."""
        while seconds > 0:
            step = min(seconds, 1.0)
            self.time.advance(step)
            seconds -= step
            await self.quiet()

    async def host(
        self, *, seat: int = 0, settings: dict[str, Any] | None = None, **rules: Any
    ) -> Guest:
        """Somebody opens a room."""
        guest = Guest(self)
        asked = {"variant": "scopone_scientifico", **rules}
        await self.rooms.create(
            guest.visitor,
            c.Create(name=NAMES[0], rules=asked, settings=settings, token=token(0)),
        )
        await self.quiet()
        return guest

    async def enter(self, command: c.Join | c.Resume | c.Watch) -> Guest:
        """Somebody comes in. Raises Refused."""
        guest = Guest(self)
        await self.rooms.enter(guest.visitor, command)
        await self.quiet()
        guest.read()
        return guest

    async def join(self, code: str, seat: int) -> Guest:
        """Somebody takes a seat."""
        return await self.enter(c.Join(room=code, name=NAMES[seat], seat=seat, token=token(seat)))

    async def resume(self, code: str, seat: int) -> Guest:
        """Somebody comes back."""
        return await self.enter(c.Resume(room=code, token=token(seat)))

    async def table(self, *, settings: dict[str, Any] | None = None, **rules: Any) -> list[Guest]:
        """Four people around a table, the match begun."""
        host = await self.host(settings=settings, **rules)
        seats = range(1, len(host.view.seats))
        guests = [host, *[await self.join(host.code, seat) for seat in seats]]
        await host.do(c.Start())
        return guests


def legal(guest: Guest, chance: random.Random) -> c.Play:
    """Any legal play of the guest whose turn it is."""
    view = guest.view
    assert view.options is not None
    card = chance.choice(sorted(view.options))
    take = chance.choice(view.options[card] or [[]])
    return c.Play(deal=view.deal, turn=view.turn, card=card, take=take)


def on_turn(guests: list[Guest]) -> Guest:
    """The guest whose turn it is."""
    to_play = guests[0].view.to_play
    assert to_play is not None
    return guests[to_play]

"""Two workers in one process: two gateways on one store, with a line between them."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

from msgspec import msgpack

from scopa_protocol import commands as c
from scopa_server.bounds import Bounds
from scopa_server.gateway.homes import token_at
from scopa_server.gateway.neighbour import MESSAGE, Message, Offer
from scopa_server.gateway.neighbours import Neighbours
from scopa_server.metrics import Handed

from .front import PATIENCE, Front, front, until
from .house import Guest, House
from .memory_journal import MemoryJournal

ROOMY = Bounds(max_frames_per_second=100_000)


def line() -> tuple[socket.socket, socket.socket]:
    """Both ends of a line between workers."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class Stranger:
    """A worker that the test itself is: it says and hears what there is on a line."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self.end = end

    def say(self, message: Message, *files: int) -> None:
        """Send a message."""
        socket.send_fds(self.end, [msgpack.encode(message)], files)

    async def hear(self) -> Message:
        """The next message; a file that came with it is closed."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    data, files, _, _ = socket.recv_fds(self.end, MESSAGE, 1)
                except BlockingIOError:
                    await asyncio.sleep(0.001)
                    continue
                for file in files:
                    os.close(file)
                return msgpack.decode(data, type=Message)

    async def offered(self) -> int:
        """The number of the next offer, which must be what comes next."""
        message = await self.hear()
        assert isinstance(message, Offer), message
        return message.number


class NextDoor:
    """Clients connect to the first, and what they ask for is at home at the second."""

    def __init__(self, one: Front, two: Front, met: tuple[Neighbours, Neighbours]) -> None:
        self.one = one
        self.two = two
        self.met = met

    async def room(self, at: int = 2) -> str:
        """The code of a fresh room that is at home at the second, with nobody there yet."""
        house = (self.one, self.two)[at - 1].house
        guest = Guest(house)
        create = c.Create(name="Anna", rules={"variant": "scopa"}, token=token_at(at, 2))
        await house.rooms.create(guest.visitor, create)
        await until(lambda: guest.visitor.room is not None)
        guest.read()
        await guest.drop()
        return guest.code

    def introduce(self) -> None:
        """Give them a line to each other."""
        to_two, to_one = line()
        self.met[0].meet(2, to_two)
        self.met[1].meet(1, to_one)

    @contextmanager
    def stranger(self, number: int = 2) -> Generator[Stranger]:
        """Let the test stand for the second, as the first knows it; or for a third."""
        ours, theirs = line()
        self.met[0].meet(number, theirs)
        with ours:
            yield Stranger(ours)

    def handed(self, outcome: Handed) -> float:
        """How many handovers of the first ended so."""
        return self.one.counts(f'scopa_handovers_total{{outcome="{outcome}"}}')

    def connections(self) -> tuple[float, float]:
        """How many connections each has."""
        name = "scopa_connections_open"
        return self.one.counts(name), self.two.counts(name)


@asynccontextmanager
async def next_door(
    bounds: Bounds = ROOMY, *, theirs: Bounds | None = None, met: bool = True
) -> AsyncGenerator[NextDoor]:
    """Two of them. `theirs`: the second's bounds; `met`: whether they know each other."""
    journal = MemoryJournal()
    houses = House(journal, bounds=bounds), House(journal, bounds=theirs or bounds)
    one, two = (
        Neighbours(number, 2, house.time, house.metrics)
        for number, house in enumerate(houses, start=1)
    )
    try:
        async with front(houses[0], one) as first, front(houses[1], two) as second:
            pair = NextDoor(first, second, (one, two))
            if met:
                pair.introduce()
                await until(lambda: all(n.ready for n in (*one.all, *two.all)))
            yield pair
    finally:
        await one.close()
        await two.close()

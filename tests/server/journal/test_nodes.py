"""Nodes of a cluster that come and go, played by links that do as they are told."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from scopa_server.journal import Stored, Unavailable
from scopa_server.journal.cluster import Cluster
from scopa_server.journal.link import Refusal
from scopa_server.journal.places import Address
from scopa_server.journal.scripts import SLOTS, Command, slot_of

PATIENCE = 30
ROOM, OTHER = "KRTNWXYZ", "KRTNWXYA"
"""In the first half of the slots, and in the second."""
A, B, C = (Address("host", port) for port in (1, 2, 3))


def opened() -> asyncio.Event:
    gate = asyncio.Event()
    gate.set()
    return gate


class World:
    """What nodes answer, and gates that hold up what is done with them."""

    def __init__(self) -> None:
        self.owners: tuple[Address, ...] = (A,)
        self.alone: dict[Address, tuple[Address, ...]] = {}
        """Nodes that see no others, and who has the slots as they think."""
        self.answers: dict[Address, int | Refusal] = {}
        self.opening = opened()
        self.answering: dict[Address, asyncio.Event] = defaultdict(opened)
        self.dropping: dict[Address, asyncio.Event] = defaultdict(opened)
        self.reached: dict[tuple[str, Address], asyncio.Event] = defaultdict(asyncio.Event)


class Played:
    """A link to a node of that world."""

    def __init__(self, world: World, node: Address) -> None:
        self._world = world
        self._node = node
        self._sent: list[Command] = []
        self._wrote = False

    async def open(self) -> None:
        self._world.reached["open", self._node].set()
        await self._world.opening.wait()

    async def send(self, commands: Sequence[Command]) -> None:
        self._sent = list(commands)

    async def receive(self, count: int) -> list[Any]:
        return [await self._answer(command) for command in self._sent]

    async def _answer(self, command: Command) -> Any:
        if command == ("CLUSTER", "INFO"):
            state = "fail" if self._node in self._world.alone else "ok"
            return f"cluster_state:{state}\r\ncluster_size:1\r\n".encode()
        if command[0] == "CLUSTER":
            owners = self._world.alone.get(self._node, self._world.owners)
            share = SLOTS // len(owners)
            return [
                [number * share, number * share + share - 1, [owner.host.encode(), owner.port]]
                for number, owner in enumerate(owners)
            ]
        self._wrote = True
        self._world.reached["answer", self._node].set()
        await self._world.answering[self._node].wait()
        return self._world.answers[self._node]

    async def listen(self, seconds: float) -> Any:
        raise AssertionError("nobody listens here")

    async def drop(self) -> None:
        if self._wrote:
            self._world.reached["drop", self._node].set()
            await self._world.dropping[self._node].wait()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def cluster(world: World) -> AsyncIterator[Cluster]:
    made = Cluster([A, B], lambda address: Played(world, address), asyncio.sleep)
    yield made
    world.opening.set()
    await made.close(0)


def moved(to: Address) -> Refusal:
    return Refusal("MOVED", slot_of(ROOM), to)


async def test_a_node_that_gets_a_room_while_another_goes_is_kept(
    world: World, cluster: Cluster
) -> None:
    async with asyncio.timeout(PATIENCE):
        # A room is at each of two, then all slots are at a third.
        world.owners, world.answers = (B, C), {B: 7, C: 7}
        await cluster.look_again()
        for room in (ROOM, OTHER):
            assert await cluster.append(room, ("EVAL",)) == Stored(7)
        world.owners, world.answers = (A,), {A: moved(C), C: 8}
        world.answering[C].clear()
        world.dropping[B].clear()
        looking = asyncio.create_task(cluster.look_again())
        await world.reached["drop", B].wait()
        world.reached["answer", C].clear()
        appending = asyncio.ensure_future(cluster.append(ROOM, ("EVAL",)))
        await world.reached["answer", C].wait()
        world.dropping[B].set()
        await looking
        world.answering[C].set()
        assert await appending == Stored(8)


async def test_who_asks_where_rooms_are_when_the_journal_closes_is_told(
    world: World, cluster: Cluster
) -> None:
    world.opening.clear()
    async with asyncio.timeout(PATIENCE):
        asking = asyncio.create_task(cluster.ask(ROOM, ("GET",)))
        await world.reached["open", A].wait()
        await cluster.close(0)
        with pytest.raises(Unavailable, match="closed"):
            await asking


async def test_a_node_that_sees_no_others_is_neither_asked_nor_believed(
    world: World, cluster: Cluster
) -> None:
    world.answers = {A: 7, B: 8}
    async with asyncio.timeout(PATIENCE):
        assert await cluster.ask(ROOM, ("GET",)) == 7
        world.alone, world.owners = {A: (A,)}, (B,)
        world.answers[A] = Refusal("CLUSTERDOWN")
        assert await cluster.ask(ROOM, ("GET",)) == 8


async def test_if_nobody_sees_the_others_what_they_think_is_better_than_nothing(
    world: World, cluster: Cluster
) -> None:
    world.alone, world.answers = {A: (A,)}, {A: Refusal("CLUSTERDOWN")}
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Unavailable, match="CLUSTERDOWN"):
            await cluster.ask(ROOM, ("GET",))
        world.alone, world.answers = {}, {A: 7}
        assert await cluster.ask(ROOM, ("GET",)) == 7

"""A Redis Cluster: each room asked for at the node that has its slot, wherever that goes."""

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, NamedTuple

from scopa_server.journal.ear import Ear
from scopa_server.journal.hints import Hints, L
from scopa_server.journal.interface import Stored, StoreRefused, Taken, Unavailable
from scopa_server.journal.link import (
    Broken,
    Link,
    Links,
    Refusal,
    Refused,
    Unreached,
    background,
    unavailable,
    unless_refused,
)
from scopa_server.journal.news import News
from scopa_server.journal.nodes import Node, chunks
from scopa_server.journal.places import Address
from scopa_server.journal.resend import Pending, Resender, Sleep
from scopa_server.journal.scripts import ASKING, Command, slot_of
from scopa_server.journal.slots import Slots

_TRIES = 8
"""How often one question is put before it is given up."""
_STRAYS = 12
"""How often an append is led on before it is given up, if nothing of it can have been stored."""
_HASTY = 3
"""How often anything is led on without a pause."""
_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
_LOOK_SECONDS = 2.0
_ASKED = 4
"""Known nodes, and seeds, that are asked for the map at once."""


class Cluster:
    """`Servers` that share the rooms among them. It is `Guide` and `Usher` for its nodes."""

    def __init__(
        self, seeds: Sequence[Address], make: Callable[[Address], Link], sleep: Sleep
    ) -> None:
        self._seeds = seeds
        self._make = make
        self._sleep = sleep
        self._slots = Slots()
        self._nodes: dict[Address, Node] = {}
        self._news = News(self._ear)
        self._looking: asyncio.Task[None] | None = None
        self._underway: dict[asyncio.Task[None], Pending | None] = {}
        self._retired_batches = 0
        self._closing = False
        self._closed = False
        self._appending: set[asyncio.Future[Stored | Taken]] = set()

    # What the journal asks

    @property
    def batches(self) -> int:
        """How many pipelines of appends went out so far."""
        now = sum(node.appends.batches for node in self._nodes.values())
        return self._retired_batches + now

    @property
    def hints(self) -> Hints:
        """Who listens here."""
        return self._news.hints

    def ear_of(self, room: str) -> str:
        """None: another process may hear the room from another node."""
        return ""

    def append(self, room: str, command: Command) -> "asyncio.Future[Stored | Taken]":
        """Send an append until its answer is known."""
        waiting: asyncio.Future[Stored | Taken] = asyncio.get_running_loop().create_future()
        pending = Pending(room, command, waiting)
        self._appending.add(waiting)
        waiting.add_done_callback(self._appended)
        owner = self._slots.owner(slot_of(room))
        if self._closing:
            pending.give_up()
        elif owner is None:
            # Once handed over it is stored, whatever becomes of the caller.
            self._begin(self._lead_on(pending), pending)
        else:
            self._node_at(owner).appends.adopt(pending)
        return asyncio.shield(waiting)

    def _appended(self, waiting: "asyncio.Future[Stored | Taken]") -> None:
        self._appending.discard(waiting)
        waiting.exception()  # whoever waited for it has it; perhaps nobody does any more

    async def ask(self, room: str, command: Command) -> Any:
        """Ask something of a room that is safe to ask twice."""
        node, asking = await self._node(room), False
        for attempt in range(_TRIES):
            try:
                commands = [ASKING, command] if asking else [command]
                answer = _unless_cut_off((await node.links.exchange(commands))[-1])
            except Unavailable:
                await self.look_again()
                former, node = node, await self._node(room)
                if node is former:
                    raise
                continue
            if not isinstance(answer, Refusal):
                return answer
            asking = answer.code == "ASK"
            if answer.where is not None and attempt < _HASTY:
                node = self._led_to(answer)
            elif answer.where is not None or answer.code == "TRYAGAIN":
                await self._sleep(_pause(attempt))
                node, asking = await self._node(room), False
            else:
                return unless_refused(answer)
        raise Refused("the store is moving the room from one server to another")

    async def ask_each(self, commands: Mapping[str, Command]) -> dict[str, Any]:
        """Ask of many rooms at once; the rooms of a node that can't be reached are left out."""
        shares: dict[Node, list[str]] = defaultdict(list)
        for room in commands:
            shares[await self._node(room)].append(room)
        parts = await asyncio.gather(
            *(self._ask_share(node, rooms, commands) for node, rooms in shares.items())
        )
        found = {room: answer for part in parts for room, answer in part.items()}
        if commands and not found:
            await self.look_again()
            raise Unavailable("no server of the store answers")
        return found

    async def _ask_share(
        self, node: Node, rooms: Sequence[str], commands: Mapping[str, Command]
    ) -> dict[str, Any]:
        answers: list[Any] = []
        found: dict[str, Any] = {}
        with suppress(Unavailable):
            for some in chunks([commands[room] for room in rooms]):
                answers += await node.links.exchange(some)
            for room, answer in zip(rooms, answers, strict=True):
                wrong = isinstance(answer, Refusal)
                found[room] = await self.ask(room, commands[room]) if wrong else answer
        return found

    async def each(self) -> Sequence[Links]:
        """Every master."""
        if not self._slots.masters:
            await self._look()
        return [self._node_at(address).links for address in self._slots.masters]

    def listen(self, room: str, listener: L) -> AbstractAsyncContextManager[L]:
        """Let somebody hear of a room."""
        return self._news.listen(room, listener)

    async def close(self, grace: float) -> None:
        """Wait that long for appends, then disconnect."""
        self._closing = True
        if self._appending:
            await asyncio.wait(self._appending, timeout=grace)
        self._closed = True
        for task, pending in tuple(self._underway.items()):
            task.cancel()
            if pending is not None:
                pending.give_up()
        await asyncio.gather(*self._underway, return_exceptions=True)
        for node in self._nodes.values():
            await node.close(0)
        self._news.close()

    # Where rooms are

    async def _node(self, room: str) -> Node:
        owner = self._slots.owner(slot_of(room))
        if owner is None:
            await self._look()
            owner = self._slots.owner(slot_of(room))
        if owner is None:
            raise Unavailable("no server of the store has the room's slot")
        return self._node_at(owner)

    def _node_at(self, address: Address) -> Node:
        if self._closed:
            raise Unavailable("the journal is closed")
        node = self._nodes.get(address)
        if node is None:
            node = self._nodes[address] = self._new_node(address)
        return node

    def _new_node(self, address: Address) -> Node:
        def make() -> Link:
            return self._make(address)

        appends = Resender(make(), self._sleep, self)
        return Node(make, appends, Ear(make(), self._sleep, self._news.hints, self))

    async def _ear(self, room: str) -> Ear:
        return (await self._node(room)).ear

    def _led_to(self, refusal: Refusal) -> Node:
        """The node that MOVED or ASK names; of a move the rest is learned by and by."""
        assert refusal.where is not None
        if refusal.code == "MOVED":
            self._slots.move(refusal.slot, refusal.where)
            self._begin(self.look_again())
        return self._node_at(refusal.where)

    async def look_again(self) -> None:
        """Read the map anew, if anybody answers."""
        with suppress(Unavailable, StoreRefused):
            await self._look()

    async def _look(self) -> None:
        """Read the map; whoever asks meanwhile waits for the same. Raises `Unavailable`."""
        if self._closed:
            raise Unavailable("the journal is closed")
        if self._looking is None or self._looking.done():
            self._looking = self._begin(self._read_map())
        looking = self._looking
        await asyncio.wait([looking])
        if looking.cancelled():
            raise Unavailable("the journal is closed")
        looking.result()

    async def _read_map(self) -> None:
        """Ask some nodes at once: whoever answers first, and sees the others, knows enough."""
        known, seeds = self._slots.masters, list(self._seeds)
        random.shuffle(known)
        random.shuffle(seeds)
        some = dict.fromkeys([*known[:_ASKED], *seeds[:_ASKED]])
        asked = [asyncio.create_task(self._map_of(address)) for address in some]
        try:
            self._slots.read(*await _soundest(asked))
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        await self._retire()

    async def _map_of(self, address: Address) -> "_Map":
        link = self._make(address)
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                await link.open()
                await link.send([("CLUSTER", "SLOTS"), ("CLUSTER", "INFO")])
                slots, state = await link.receive(2)
        except (Unreached, Broken, TimeoutError) as error:
            raise unavailable(error) from error
        finally:
            await link.drop()
        if isinstance(slots, Refusal) and slots.code == "ERR" and not self._slots.masters:
            raise StoreRefused(_NO_CLUSTER)
        cut_off = isinstance(state, bytes) and b"cluster_state:fail" in state
        return _Map(unless_refused(slots), address, cut_off)

    async def _retire(self) -> None:
        """Let go of nodes that have no slots and nothing to do."""
        for address, node in tuple(self._nodes.items()):
            if not node.idle or address in self._slots.masters:  # by now, for this takes time
                continue
            del self._nodes[address]
            self._retired_batches += node.appends.batches
            await node.close(0)

    # Leading astray appends and rooms to their nodes

    def learn(self, refusal: Refusal) -> bool:
        """Learn from MOVED who has a slot; false if the refusal says nothing of it."""
        if self._closed or refusal.code != "MOVED":
            return False
        self._led_to(refusal)
        return True

    def redirect(self, pending: Pending, refusal: Refusal) -> bool:
        """Lead on an append that came to the wrong node; whether it did."""
        if self._closed:
            return False
        pending.strayed += 1
        if pending.strayed > _STRAYS and not pending.doubtful:
            return False
        if refusal.where is not None:
            node, pending.asking = self._led_to(refusal), refusal.code == "ASK"
            if pending.strayed <= _HASTY:
                node.appends.adopt(pending)
                return True
        elif refusal.code != "TRYAGAIN":
            return False
        self._begin(self._lead_on(pending), pending)
        return True

    async def _lead_on(self, pending: Pending) -> None:
        """To whoever has the room, later if it was somewhere already."""
        pending.asking = False
        while True:
            if pending.strayed:
                await self._sleep(_pause(pending.strayed))
            try:
                node = await self._node(pending.room)
            except Unavailable as error:
                if not pending.doubtful:
                    pending.fail(error)
                    return
                pending.strayed += 1
            else:
                node.appends.adopt(pending)
                return

    def take_over(self, pending: Pending, former: Resender) -> bool:
        """Give an append to the node that has its room by now; false if that is the former one."""
        owner = self._slots.owner(slot_of(pending.room))
        if self._closed or owner is None or (node := self._node_at(owner)).appends is former:
            return False
        node.appends.adopt(pending)
        return True

    async def rehome(self, ear: Ear) -> None:
        """Give rooms to other ears that this one has and isn't for any more."""
        await self._news.rehome(ear)

    def _begin(
        self, work: Coroutine[Any, Any, None], pending: Pending | None = None
    ) -> asyncio.Task[None]:
        task = background(work, "journal-cluster")
        self._underway[task] = pending
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._underway[task]
        if not task.cancelled():
            task.exception()  # whoever waited for it has it; perhaps nobody did


class _Map(NamedTuple):
    """What `asked` says of slots; if it is cut off from the others that may be long past."""

    slots: Any
    asked: Address
    cut_off: bool


async def _soundest(asked: Sequence[asyncio.Task[_Map]]) -> tuple[Any, Address]:
    """The first answer of a node that sees the others; if none does, any; raises what came last."""
    trouble: Exception = Unavailable("no server of the store answers")
    found: _Map | None = None
    for answer in asyncio.as_completed(asked):
        try:
            found = await answer
        except (Unavailable, StoreRefused) as error:
            trouble = error
        else:
            if not found.cut_off:
                break
    if found is None:
        raise trouble
    return found.slots, found.asked


def _unless_cut_off(answer: Any) -> Any:
    """The answer; raises `Refused` if a node can't tell whether the room is still its own."""
    cut_off = isinstance(answer, Refusal) and answer.code == "CLUSTERDOWN"
    return unless_refused(answer) if cut_off else answer


_NO_CLUSTER = "the store is no Redis Cluster: name it with redis:// (or rediss://) instead of redis+cluster://"


def _pause(attempt: int) -> float:
    return min(_LONGEST_PAUSE, _PAUSE * 2.0 ** min(attempt, 5))

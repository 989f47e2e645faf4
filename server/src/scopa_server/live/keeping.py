"""The rooms that this process shows: found by code, loaded when somebody comes, let go."""

import asyncio
import contextvars
from typing import Final

import structlog

from scopa_protocol.codes import ErrorCode
from scopa_server.journal.interface import LOST, Journal, Unavailable
from scopa_server.room.events import UnreadableLog
from scopa_server.room.refused import Refused
from scopa_server.room.stored import Header, header, read_header

from .answers import restarting
from .budgets import Budgets
from .following import listen, poll
from .gossip import Gossip
from .growth import Growth
from .ledger import Ledger, Lifetimes, unavailable
from .loading import Loaded, load_room
from .room import LiveRoom
from .surroundings import Surroundings

log = structlog.stdlib.get_logger()

STOP_SECONDS: Final = 2
"""How long rooms have to store what is under way when the server goes down."""


class Keeping:
    """Every live room of this process. `process` names it among those on one store."""

    def __init__(
        self,
        journal: Journal,
        around: Surroundings,
        lifetimes: Lifetimes,
        budgets: Budgets,
        process: str,
    ) -> None:
        self._journal = journal
        self._around = around
        self._lifetimes = lifetimes
        self._budgets = budgets
        self._process = process
        self._polling: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False
        self.live: dict[str, asyncio.Task[LiveRoom | None]] = {}
        """By code what loads a room, and gives it for as long as it is shown."""

    async def header(self, code: str) -> Header | None:
        """What is looked up of a room without loading it; None: there is none. Raises Refused."""
        try:
            kept = await self._journal.header(code)
            if kept != LOST:
                return None if kept is None else read_header(kept)
            loaded = await load_room(self._journal, code)
        except Unavailable:
            raise unavailable() from None
        except UnreadableLog:
            raise _unreadable(code) from None
        return None if loaded is None else read_header(header(loaded.room))

    async def found(self, code: str) -> LiveRoom | None:
        """The live room of that code, loaded if need be, by one task however many ask.

        Raises Refused.
        """
        if self._stopping:
            raise restarting()
        loading = self.live.get(code)
        if loading is None or _is_over(loading):
            # A room's task serves many: what it logs names no one connection.
            context = contextvars.Context()
            loading = asyncio.create_task(self._load(code), name=f"load {code}", context=context)
            self.live[code] = loading
        try:
            return await asyncio.shield(loading)
        except Unavailable:
            raise unavailable() from None
        except UnreadableLog:
            raise _unreadable(code) from None

    async def _load(self, code: str) -> LiveRoom | None:
        live = None
        try:
            loaded = await load_room(self._journal, code)
            if loaded is not None:
                live = await self._show(loaded)
            return live
        finally:
            if live is None:
                self.live.pop(code, None)

    async def _show(self, loaded: Loaded) -> LiveRoom:
        shown = await self._journal.shown(loaded.room.code)
        ledger = Ledger(self._journal, loaded, self._lifetimes, self._around.metrics)
        gossip = Gossip(self._journal, loaded.room.code, self._process, self._around.bounds)
        growth = Growth(loaded.room.code, self._budgets, self._around)
        live = LiveRoom(ledger, self._around, gossip, growth, shown)
        task = asyncio.create_task(self._run(live), name=f"room {loaded.room.code}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return live

    async def _run(self, live: LiveRoom) -> None:
        code = live.room.code
        self._around.metrics.room_entered()
        listening = self._follow(live)
        try:
            await live.run()
        except Exception:
            log.exception("room_fault", room=code)
        finally:
            await ended(listening)
            self._around.metrics.room_left()
            loading = self.live.get(code)
            if loading is not None and _is_over(loading):
                del self.live[code]

    def _follow(self, live: LiveRoom) -> "asyncio.Task[None] | None":
        """Begin to follow what other processes do to a room, if there can be any."""
        if not self._journal.shared:
            return None
        if self._polling is None:
            polling = poll(self._journal, self._shown, self._around.time)
            self._polling = asyncio.create_task(polling, name="poll")
        return asyncio.create_task(listen(self._journal, live), name=f"listen {live.room.code}")

    def _shown(self) -> dict[str, LiveRoom]:
        rooms = [task.result() for task in self.live.values() if not _is_over(task) and task.done()]
        return {live.room.code: live for live in rooms if live is not None}

    async def stop(self) -> None:
        """Let every room finish what is under way, and stop; a store that hangs isn't awaited."""
        self._stopping = True
        try:
            async with asyncio.timeout(STOP_SECONDS):
                if self.live:
                    await asyncio.wait(tuple(self.live.values()))
                for loading in tuple(self.live.values()):
                    _stop(loading)
                while self._tasks:
                    await asyncio.wait(self._tasks)
        except TimeoutError:
            log.warning("rooms_unfinished", left=len(self._tasks))

    async def close(self) -> None:
        """Stop, and end what is left."""
        await self.stop()
        left = [*self.live.values(), *self._tasks]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await ended(self._polling)


async def ended(task: "asyncio.Task[None] | None") -> None:
    """End a task, if there is one."""
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _stop(loading: "asyncio.Task[LiveRoom | None]") -> None:
    live = None if _is_over(loading) else loading.result()
    if live is not None:
        live.stop()


def _is_over(loading: "asyncio.Task[LiveRoom | None]") -> bool:
    if not loading.done():
        return False
    if loading.cancelled() or loading.exception() is not None:
        return True
    live = loading.result()
    return live is None or live.closed


def _unreadable(code: str) -> Refused:
    log.error("room_unreadable", room=code)
    return Refused(
        ErrorCode.INTERNAL_ERROR, "The server can't read this room; tell whoever runs it."
    )

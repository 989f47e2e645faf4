"""A live room's state and its log in the store, kept in step: append, then apply."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Final

import structlog
from msgspec import Struct

from scopa_protocol.codes import ErrorCode
from scopa_protocol.events import RoomEvent
from scopa_server.journal.interface import (
    Commit,
    Draft,
    Journal,
    Snapshot,
    Stored,
    Taken,
    Touch,
    Unavailable,
    Unresolved,
)
from scopa_server.metrics import Append, Metrics
from scopa_server.room import events as e
from scopa_server.room.apply import advance
from scopa_server.room.events import UnreadableLog, write_events
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room
from scopa_server.room.stored import dump, header
from scopa_server.room.tell import advance_telling

from .chance import new_id, new_log_id
from .loading import Loaded, follow, load_room

log = structlog.stdlib.get_logger()

SNAPSHOT_EVERY: Final = 100
"""Commits between two snapshots."""
RACES: Final = 10
"""Races that one decision may lose before it is given up."""

_SHOWN_IN_HEADER: Final = frozenset(
    {e.Opened, e.SeatTaken, e.SeatLeft, e.Configured, e.MatchStarted}
)


class Lifetimes(Struct, frozen=True):
    """Seconds that an untouched room stays in the store: never started, or else."""

    room: int = 24 * 3600
    match: int = 30 * 24 * 3600

    def of(self, room: Room) -> int:
        """Seconds to live of a room."""
        return self.match if room.match else self.room


class RoomLost(Exception):
    """This process can't show the room: its log can't be read, or no one knows what is in it."""


class RoomGone(RoomLost):
    """The store no longer has this room."""


class Begun(Struct, frozen=True):
    """A commit that the store has been handed, `since` when (seconds), and what comes of it."""

    draft: Draft
    events: e.Events
    outcome: asyncio.Future[Stored | Taken]
    since: float

    @property
    def is_stored(self) -> bool:
        """Whether all went well."""
        try:
            return isinstance(self.outcome.result(), Stored)
        except (Exception, asyncio.CancelledError):
            return False


class Ledger:
    """The state of one room and the top of its log. `log_id` changes when it was reloaded."""

    def __init__(
        self, journal: Journal, loaded: Loaded, lifetimes: Lifetimes, metrics: Metrics
    ) -> None:
        self._journal = journal
        self._metrics = metrics
        self._lifetimes = lifetimes
        self._snapshot_at = loaded.room.seq
        self._keeping: asyncio.Task[None] | None = None
        self.room = loaded.room
        self._top = loaded.top
        self.log_id = new_log_id()
        self._missed: list[RoomEvent] = []

    @property
    def top(self) -> tuple[int, str]:
        """Number and id of the newest commit that is known here."""
        return self.room.seq, self._top

    def take_missed(self) -> list[RoomEvent]:
        """What was read of other processes' commits and has not been told here."""
        missed, self._missed = self._missed, []
        return missed

    async def commit(
        self, decide: Callable[[Room], e.Events], begun: "Begun | None" = None
    ) -> list[RoomEvent] | None:
        """Decide and store. What people hear of it; None if nothing was to be stored.

        `begun`: what was decided already. A race that is lost is decided again on what won.
        Raises Refused, RoomLost.
        """
        for _ in range(RACES):
            if begun is None:
                events = decide(self.room)
                if not events:
                    return None
                begun = self.begin(events)
            with suppress(Exception):
                await begun.outcome
            stored = self.finish(begun)
            if stored is not None:
                return stored
            begun = None
            await self.catch_up()
        raise unavailable()

    def begin(self, events: e.Events) -> "Begun":
        """Hand a commit to the store. Raises Refused. Nothing else may come before its end."""
        draft = Draft(
            number=self.room.seq + 1,
            id=new_id(),
            previous=self._top,
            payload=write_events(events),
        )
        begun = perf_counter()
        try:
            outcome = self._journal.append(
                self.room.code, draft, header=self._new_header(events), ttl=self.lifetime
            )
        except Unavailable:
            self._metrics.appended(perf_counter() - begun, Append.FAILED)
            raise unavailable() from None
        if not isinstance(outcome, asyncio.Future):
            outcome = asyncio.ensure_future(outcome)
        return Begun(draft, events, outcome, begun)

    def finish(self, begun: "Begun") -> list[RoomEvent] | None:
        """Follow a commit that the store has answered.

        What people hear of it; None if another commit was first. Raises Refused, RoomLost.
        """
        draft, seconds = begun.draft, perf_counter() - begun.since
        try:
            outcome = begun.outcome.result()
        except Unavailable:
            self._metrics.appended(seconds, Append.FAILED)
            raise unavailable() from None
        except Unresolved as fault:
            # Whether it is in the log only the log can say.
            raise RoomLost(str(fault)) from None
        if not isinstance(outcome, Stored):
            self._metrics.appended(seconds, Append.TAKEN)
            return None
        self._metrics.appended(seconds, Append.STORED)
        self.room, heard = advance_telling(self.room, draft.number, outcome.at, begun.events)
        self._top = draft.id
        return heard

    def _new_header(self, events: e.Events) -> bytes | None:
        if _SHOWN_IN_HEADER.isdisjoint(map(type, events)):
            return None
        return header(advance(self.room, self.room.seq + 1, self.room.at, events))

    async def catch_up(self) -> bool:
        """Read what the store has beyond this state. Whether anything changed.

        Raises Refused when the store can't be reached, RoomLost when it has no such room.
        """
        try:
            if await self._journal.top(self.room.code) == self.top:
                return False
            newer = await self._journal.read(self.room.code, self.room.seq)
            here = Loaded(self.room, self._top)
            await self._move_to(follow(here, newer, self._missed) if newer else None)
        except Unavailable:
            raise unavailable() from None
        except UnreadableLog as fault:
            raise RoomLost(str(fault)) from None
        return True

    async def _move_to(self, followed: Loaded | None) -> None:
        if followed is None:
            # Behind or beside what was shown: start from the store's truth, and say so.
            followed = await load_room(self._journal, self.room.code)
            if followed is None:
                raise RoomGone("the store no longer has this room")
            self.log_id = new_log_id()
            self._metrics.room_reloaded()
            log.warning("room_reloaded", seq=self.room.seq)
        self.room, self._top = followed.room, followed.top

    async def commits(self, after: int) -> list[Commit]:
        """The log above a number, as the store has it. Raises Refused."""
        try:
            return await self._journal.read(self.room.code, after)
        except Unavailable:
            raise unavailable() from None

    @property
    def wants_snapshot(self) -> bool:
        """Whether enough has happened since the last snapshot."""
        return self.room.seq - self._snapshot_at >= SNAPSHOT_EVERY

    def begin_snapshot(self) -> None:
        """Hand the store a snapshot of the present state; nobody waits for it to be kept."""
        if self.room.seq == self._snapshot_at:
            return
        kept = Snapshot(number=self.room.seq, id=self._top, payload=dump(self.room))
        self._snapshot_at = self.room.seq
        self._keeping = asyncio.create_task(self._keep(kept, self._keeping), name="snapshot")

    async def snapshot(self) -> None:
        """Keep a snapshot of the present state; a store that can't does without."""
        self.begin_snapshot()
        if self._keeping is not None:
            await self._keeping

    async def _keep(self, kept: Snapshot, before: "asyncio.Task[None] | None") -> None:
        if before is not None:
            await before
        try:
            await self._journal.snapshot(self.room.code, kept)
        except Unavailable:
            log.warning("snapshot_failed", seq=kept.number)
        except Exception:
            log.exception("snapshot_fault", seq=kept.number)

    @property
    def lifetime(self) -> int:
        """Seconds that the store keeps the room after it was last touched."""
        return self._lifetimes.of(self.room)

    async def shown(self) -> int | None:
        """How far the room's time had run when a process last said so, if it can be asked."""
        try:
            return await self._journal.shown(self.room.code)
        except Unavailable:
            return None

    async def touch(self, mark: int) -> None:
        """Note in the store that the room is being shown, and how far its time has run."""
        try:
            await self._journal.touch({self.room.code: Touch(self.lifetime, mark)})
        except Unavailable:
            log.warning("touch_failed")


def unavailable() -> Refused:
    """That the store can't be reached; nothing was sent to it."""
    return Refused(
        ErrorCode.STORAGE_UNAVAILABLE,
        "The server can't save the table just now; nothing was lost. Try again in a moment.",
    )

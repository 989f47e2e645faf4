"""A room from its log: the snapshot, then the commits after it."""

from msgspec import Struct

from scopa_protocol.events import RoomEvent
from scopa_server.journal.interface import Commit, Journal
from scopa_server.room.apply import advance
from scopa_server.room.events import UnreadableLog, read_events
from scopa_server.room.machine import ImpossibleEvent
from scopa_server.room.state import Room
from scopa_server.room.stored import load
from scopa_server.room.tell import advance_telling


class Loaded(Struct, frozen=True):
    """A room as the store has it, and the id of its newest commit."""

    room: Room
    top: str


async def load_room(journal: Journal, code: str) -> Loaded | None:
    """The room of that code; None if there is none. Raises UnreadableLog, Unavailable."""
    start = await _snapshot(journal, code) or Loaded(Room(code=code), "")
    loaded = follow(start, await journal.read(code, start.room.seq))
    if loaded is None:
        raise UnreadableLog("the log has a gap")
    return loaded if loaded.room.seq else None


async def _snapshot(journal: Journal, code: str) -> Loaded | None:
    kept = await journal.latest_snapshot(code)
    if kept is None:
        return None
    try:
        return Loaded(load(kept.payload), kept.id)
    except UnreadableLog:
        return None


def follow(
    start: Loaded, commits: list[Commit], heard: list[RoomEvent] | None = None
) -> Loaded | None:
    """A room some commits later; None if they don't follow it.

    What people hear of them is added to `heard`. Raises UnreadableLog.
    """
    room, top = start.room, start.top
    for commit in commits:
        if commit.number != room.seq + 1 or commit.previous != top:
            return None
        try:
            events = read_events(commit.payload)
            if heard is None:
                room = advance(room, commit.number, commit.at, events)
            else:
                room, told = advance_telling(room, commit.number, commit.at, events)
                heard += told
        except (ImpossibleEvent, AssertionError, LookupError, ValueError):
            raise UnreadableLog("the log holds what can't have happened") from None
        top = commit.id
    return Loaded(room, top)

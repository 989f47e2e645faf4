"""What a store of rooms' logs promises; the same for every kind of store."""

import re
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from typing import Protocol

import msgspec

LOOK = 0
"""A hint that names no commit: something may be new, read the log."""

LOST = b""
"""The header of a room whose log is there and its header isn't: the log is what counts."""

KEY_BYTES = 32
"""How long the key is that the processes on one store share."""

_NUMBERS = range(1, 2**53)
_ROOM = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Draft(msgspec.Struct, frozen=True):
    """A commit as its author wants it stored. Its random id makes it safe to send again."""

    number: int
    id: str
    previous: str
    payload: bytes

    def __post_init__(self) -> None:
        """Refuse what no store could hold in order."""
        if self.number not in _NUMBERS or not self.id or not (self.id + self.previous).isascii():
            raise ValueError("a commit has a number from 1 and an id in ASCII")
        if (self.number == 1) != (self.previous == ""):
            raise ValueError("the first commit, and only it, has no predecessor")


class Commit(msgspec.Struct, frozen=True):
    """A stored commit. `at` is the store's time in milliseconds since the epoch."""

    number: int
    id: str
    previous: str
    at: int
    payload: bytes


class Snapshot(msgspec.Struct, frozen=True):
    """A room's state after the commit with this number and id."""

    number: int
    id: str
    payload: bytes


class Stored(msgspec.Struct, frozen=True):
    """The commit is in the log, now or already; `at` is the time recorded with it."""

    at: int


class Taken(msgspec.Struct, frozen=True):
    """Another commit has that number, or this one doesn't follow the log's top."""


class Touch(msgspec.Struct, frozen=True):
    """That a room is being shown: the seconds it lives from now, and how far its time has run.

    `mark` is in milliseconds on the scale of the commits' times; the journal only keeps it.
    """

    ttl: int
    mark: int


class Unavailable(Exception):
    """The store can't be used. When an append raises it, nothing was stored or will be."""


class NotAdmitted(Unavailable):
    """The store answers, but not to this server; the message says why, after the store's name."""


class Unresolved(Exception):
    """The journal was closed before it was known whether an append was stored."""


class StoreRefused(Exception):
    """The store can't be opened; the message says what is wrong and what to do."""


class Journal(Protocol):
    """Rooms' logs, each an append-only chain of commits.

    Every call may raise `Unavailable`, and ValueError for what is no room's code (letters, digits,
    `-` and `_`). Cancelling a caller never undoes its write.
    """

    @property
    def batches(self) -> int:
        """How many transactions or pipelines of appends went out so far."""
        ...

    def append(
        self, room: str, draft: Draft, *, header: bytes | None, ttl: int
    ) -> Awaitable[Stored | Taken]:
        """Add a commit if it follows the log's top; the same draft again changes nothing.

        A missing room is started by number 1 only. `header`, when given, replaces the stored one
        in the same transaction. `ttl` in seconds counts anew from here for all of the room, to
        within a hundredth of it.
        Raises `Unresolved` if the journal is closed before the outcome is known.
        """
        ...

    @property
    def shared(self) -> bool:
        """Whether other processes may use the store at the same time."""
        ...

    async def gossip(self, room: str, process: str, note: bytes, seconds: int) -> dict[str, bytes]:
        """Leave this process's note on a room for a while; return the other processes' notes.

        A note that changed gives the others a `LOOK`. An empty one takes the note back.
        """
        ...

    async def restore(
        self, room: str, commits: Sequence[Commit], *, header: bytes, ttl: int
    ) -> bool:
        """Bring a room in whole, its commits with the times they were stored at elsewhere.

        A room that is already there is left as it is; whether this one was brought in. Raises
        ValueError for commits that are no chain from number 1.
        """
        ...

    async def read(self, room: str, after: int = 0) -> list[Commit]:
        """Return the commits with a number above `after`, in order; none of a missing room."""
        ...

    async def header(self, room: str) -> bytes | None:
        """Return the latest header, `LOST` if only the log is left; None: there is no such room."""
        ...

    async def top(self, room: str) -> tuple[int, str] | None:
        """Return number and id of the newest commit; None when there is no such room."""
        ...

    async def tops(self, rooms: Collection[str]) -> dict[str, tuple[int, str]]:
        """Return the tops of many rooms at once, leaving missing rooms out."""
        ...

    async def snapshot(self, room: str, snapshot: Snapshot) -> None:
        """Keep a snapshot if it is of a commit in the log and newer than the one kept."""
        ...

    async def latest_snapshot(self, room: str) -> Snapshot | None:
        """Return the snapshot kept, unless it is above or beside the log."""
        ...

    async def touch(self, rooms: Mapping[str, Touch]) -> None:
        """Note that rooms are being shown, and let their seconds to live count anew."""
        ...

    async def shown(self, room: str) -> int | None:
        """Return the mark of the last touch."""
        ...

    def watch(self, room: str) -> AbstractAsyncContextManager[AsyncIterator[int]]:
        """Hear of a room's new commits from the moment the context is entered.

        Yields the number of a new commit, or `LOOK`: at once, and whenever some may have been
        missed. Numbers that were not awaited are replaced by later ones. Ends with the journal.
        """
        ...

    async def shared_key(self, seconds: int) -> bytes:
        """Return a random key that is the same for all processes on the store.

        Whoever asks first makes it; it is forgotten when nobody has asked for so many seconds.
        """
        ...

    async def publish(self, words: bytes) -> None:
        """Say something to all processes that listen at the moment, this one too."""
        ...

    def published(self) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Hear what is published from the moment the context is entered.

        Only a hint: words may be lost, and anybody with the store can say some. Ends with the
        journal.
        """
        ...

    def rooms(self) -> AsyncIterator[str]:
        """List every room in the store, in no order; for the operator."""
        ...

    async def delete(self, room: str) -> None:
        """Forget a room and everything of it."""
        ...

    async def sweep(self) -> None:
        """Remove rooms whose time to live is over, where the store doesn't by itself."""
        ...

    async def ping(self) -> None:
        """Return if the store answers."""
        ...

    async def check(self) -> list[str]:
        """Return what an operator should know about the store's settings, a sentence each."""
        ...

    async def close(self) -> None:
        """Finish the appends under way, then let the store go."""
        ...


@lru_cache(maxsize=4096)
def plain_room(room: str) -> str:
    """Return the room's code, or raise ValueError if it isn't fit to be part of a key."""
    if not _ROOM.fullmatch(room):
        raise ValueError("not a room's code")
    return room


def positive_ttl(ttl: int) -> int:
    """Return the seconds to live, or raise ValueError: zero would delete the room."""
    if ttl < 1:
        raise ValueError("a room lives at least a second")
    return ttl


def whole_chain(commits: Sequence[Commit]) -> Sequence[Commit]:
    """Return the commits, or raise ValueError unless each follows the one before, from 1."""
    previous = ""
    for number, commit in enumerate(commits, start=1):
        if (commit.number, commit.previous) != (number, previous):
            raise ValueError(f"commit {commit.number} doesn't follow the one before it")
        previous = commit.id
    if not commits:
        raise ValueError("a room has at least one commit")
    return commits

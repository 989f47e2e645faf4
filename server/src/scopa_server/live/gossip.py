"""Who is at a room's table through other processes: said now and then, and forgotten soon.

Nothing of it is in the log. What follows from it, an absence or a stand-in, is.
"""

from collections.abc import Collection
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from scopa_server.journal.interface import Journal, Unavailable
from scopa_server.room.state import Room

from .visitor import Visitor

log = structlog.stdlib.get_logger()

SAY_SECONDS: Final = 5
"""How often a process says who is there, though nothing changed."""
HOLDS_SECONDS: Final = 15
"""How long what it said holds; a process that died is forgotten after that."""


class Note(Struct, frozen=True):
    """The people connected to one process: the hashes of their tokens, and watchers' names."""

    tokens: tuple[str, ...] = ()
    watchers: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """The type alone."""
        return "<Note>"


_NOBODY: Final[frozenset[int]] = frozenset()
_decode: Final = msgspec.json.Decoder(Note).decode


class Gossip:
    """What this process knows of the others that show one room."""

    def __init__(self, journal: Journal, code: str, process: str) -> None:
        self._journal = journal
        self._code = code
        self._process = process
        self._said = Note()
        self._others: dict[str, Note] = {}

    @property
    def rank(self) -> int:
        """How many processes come before this one, where one has to act for all."""
        return sum(other < self._process for other in self._others)

    @property
    def is_alone(self) -> bool:
        """Whether no other process shows the room."""
        return not self._others

    def online(self, room: Room) -> frozenset[int]:
        """Seats with a connection to another process."""
        if not self._others:
            return _NOBODY
        tokens = [token for note in self._others.values() for token in note.tokens]
        seats = map(room.seat_of, tokens)
        return frozenset(seat for seat in seats if seat is not None)

    @property
    def watchers(self) -> tuple[str, ...]:
        """Names of those who watch through another process."""
        if not self._others:
            return ()
        return tuple(name for note in self._others.values() for name in note.watchers)

    def has_news(self, audience: Collection[Visitor]) -> bool:
        """Whether what this process said last is no longer so."""
        return self._journal.shared and _note(audience) != self._said

    async def exchange(self, audience: Collection[Visitor]) -> bool:
        """Say who is here, hear who is elsewhere; whether there is a process not heard of before.

        A store that can't be reached changes nothing.
        """
        if not self._journal.shared:
            return False
        known = self._others.keys()
        note = _note(audience)
        words = msgspec.json.encode(note) if note != Note() else b""
        try:
            heard = await self._journal.gossip(self._code, self._process, words, HOLDS_SECONDS)
            self._others = {process: _decode(text) for process, text in heard.items()}
        except (Unavailable, msgspec.DecodeError):
            log.warning("gossip_failed")
            return False
        self._said = note
        return bool(self._others.keys() - known)

    async def leave(self) -> None:
        """Say that nobody is here any more."""
        if self._said != Note():
            await self.exchange(())


def _note(audience: Collection[Visitor]) -> Note:
    tokens = {visitor.token for visitor in audience if visitor.token is not None}
    watchers = [visitor.name for visitor in audience if visitor.watches]
    return Note(tokens=tuple(sorted(tokens)), watchers=tuple(sorted(watchers)))

"""Who is at a room's table through other processes: said now and then, and forgotten soon.

Nothing of it is in the log. What follows from it, an absence or a stand-in, is.
"""

from collections import defaultdict
from itertools import chain
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from scopa_server.bounds import Bounds
from scopa_server.journal.interface import Journal, Unavailable
from scopa_server.room.state import Room

from .audience import Audience
from .crowds import WATCHERS, Crowd, Mark, Number

log = structlog.stdlib.get_logger()

SAY_SECONDS: Final = 5
"""How often a process says who is there, though nothing changed."""
HOLDS_SECONDS: Final = 15
"""How long what it said holds; a process that died is forgotten after that."""


class Note(Struct, frozen=True, omit_defaults=True):
    """The people connected to one process: the hashes of their tokens, and watchers' names.

    `held`, `watching`: the numbers of each token's connections, and of the watchers, in that order.
    `heard`: of groups that are too big the newest connection that this process knows of.
    `replaced`: how many connections of a seat had to make way here.
    """

    tokens: tuple[str, ...] = ()
    watchers: tuple[str, ...] = ()
    held: tuple[tuple[Number, ...], ...] = ()
    watching: tuple[Number, ...] = ()
    heard: dict[str, Mark] = {}
    replaced: dict[str, Number] = {}

    def __repr__(self) -> str:
        """The type alone."""
        return "<Note>"

    def numbers(self, group: str) -> tuple[int, ...]:
        """The connections of a group."""
        if group == WATCHERS:
            return self.watching
        return dict(zip(self.tokens, self.held, strict=False)).get(group, ())


_NOBODY: Final[frozenset[int]] = frozenset()
_SILENT: Final = Note()
_decode: Final = msgspec.json.Decoder(Note).decode


class Gossip:
    """What this process knows of the others that show one room."""

    def __init__(self, journal: Journal, code: str, process: str, bounds: Bounds) -> None:
        self._journal = journal
        self._code = code
        self._process = process
        self._bounds = bounds
        self._said = _SILENT
        self._others: dict[str, Note] = {}
        self.is_alone = True
        """Whether no other process shows the room."""
        self._noted: tuple[int, dict[str, Note], Note] = (-1, {}, _SILENT)
        """The latest note, and what of the audience and of the others it was made of."""
        self.reached = True
        """Whether the store took what was said last."""

    @property
    def rank(self) -> int:
        """How many processes come before this one, where one has to act for all."""
        return sum(other < self._process for other in self._others)

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

    @property
    def latest(self) -> int:
        """The highest number of a connection elsewhere."""
        notes = self._others.values()
        return max((max(chain((0,), n.watching, *n.held)) for n in notes), default=0)

    @property
    def replaced(self) -> dict[str, dict[str, int]]:
        """By process how many connections of each seat had to make way there."""
        return {name: note.replaced for name, note in self._others.items()}

    def crowd(self, audience: Audience, group: str) -> Crowd:
        """A group's connections, here and elsewhere."""
        bounds = self._bounds
        watch = group == WATCHERS
        return Crowd(
            process=self._process,
            here=[v.number for v in audience if (v.token or WATCHERS) == group],
            there={name: note.numbers(group) for name, note in self._others.items()},
            heard={
                name: note.heard[group]
                for name, note in self._others.items()
                if group in note.heard
            },
            takes=bounds.max_watchers_per_room if watch else bounds.max_connections_per_seat,
        )

    def has_news(self, audience: Audience) -> bool:
        """Whether what this process said last is no longer so."""
        return self._journal.shared and self._note(audience) != self._said

    async def exchange(self, audience: Audience) -> bool:
        """Say who is here, hear who is elsewhere; whether there is a process not heard of before.

        A store that can't be reached changes nothing.
        """
        known = self._others.keys()
        await self._say(self._note(audience))
        return bool(self._others.keys() - known)

    async def leave(self) -> None:
        """Say that nobody is here any more."""
        if self._said != _SILENT:
            await self._say(_SILENT)

    async def _say(self, note: Note) -> None:
        if not self._journal.shared:
            return
        words = msgspec.json.encode(note) if note != _SILENT else b""
        self.reached = False
        try:
            heard = await self._journal.gossip(self._code, self._process, words, HOLDS_SECONDS)
        except Unavailable:
            log.warning("gossip_failed")
            return
        read = {process: _read(text) for process, text in heard.items()}
        self._others = {process: other for process, other in read.items() if other is not None}
        self.is_alone = not self._others
        self._said = note
        self.reached = True

    def _note(self, audience: Audience) -> Note:
        """What there is to say; made anew when somebody came or went, here or elsewhere."""
        changes, others, note = self._noted
        if changes != audience.changes or others is not self._others:
            note = self._written(audience)
            self._noted = audience.changes, self._others, note
        return note

    def _written(self, audience: Audience) -> Note:
        if not audience.anyone:
            return _SILENT
        held: defaultdict[str, list[int]] = defaultdict(list)
        for visitor in audience:
            held[visitor.token or WATCHERS].append(visitor.number)
        crowds = {group: self.crowd(audience, group) for group in held} if self._others else {}
        watching = held.pop(WATCHERS, [])
        return Note(
            tokens=tuple(sorted(held)),
            watchers=audience.watchers,
            held=tuple(tuple(held[token]) for token in sorted(held)),
            watching=tuple(watching),
            heard={group: crowd.newest for group, crowd in crowds.items() if crowd.is_too_big},
            replaced=dict(audience.replaced),
        )


def _read(text: bytes) -> Note | None:
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        log.warning("gossip_unreadable")
        return None

"""How often strangers may be wrong about a code, a token, a passcode or the access key.

A delay comes only from failures of one's own address, each longer than the one before. What others
do at a room, or all over the server, makes an address's own failures count sooner, but never delays
one that has none: whoever attacks a room can't keep its people out. Who holds a seat isn't asked.

What fails at another process counts as well (`sharing`). So addresses and rooms are known by marks
alone, that processes make of them with a key they share.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import Annotated, Final, NoReturn, TypeAlias

from msgspec import Meta, Struct

from scopa_protocol.codes import ErrorCode
from scopa_server.bounds import Bounds
from scopa_server.metrics import Limit, Metrics
from scopa_server.room.refused import Refused

from .answers import too_fast
from .time import Time

FAILURES: Final = frozenset(
    {
        ErrorCode.UNKNOWN_ROOM,
        ErrorCode.WRONG_PASSCODE,
        ErrorCode.BAD_TOKEN,
        ErrorCode.BAD_KEY,
    }
)
FORGIVEN_SECONDS: Final = 60.0
"""How long until one failure of an address is forgotten."""
FIRST_DELAY: Final = 1.0
LONGEST_DELAY: Final = 60.0
FREE_UNDER_ATTACK: Final = 1
"""Failures without a delay where many others fail, too."""
ROOM_COOLS_SECONDS: Final = 10.0
SERVER_FAILURES: Final = 1000
SERVER_COOLS_SECONDS: Final = 0.05
KEPT: Final = 10_000
"""Addresses and rooms that are remembered."""
WAITING_EACH: Final = 20
"""Tries of one address that may wait for what comes of others."""
MARK_BYTES: Final = 8
_KEY_BYTES: Final = 32

Mark: TypeAlias = Annotated[bytes, Meta(max_length=MARK_BYTES)]
"""Stands for an address or a room: which one, nobody can tell without the key."""


class Failure(Struct, frozen=True, array_like=True):
    """Somebody was wrong. `room`: about which, if about any."""

    address: Mark
    room: Mark | None

    def __repr__(self) -> str:
        """The type alone."""
        return "<Failure>"


class _Tally:
    """Failures that count, one less each so many seconds."""

    __slots__ = ("_each", "_level", "last")

    def __init__(self, seconds_each: float) -> None:
        self._each = seconds_each
        self._level = 0.0
        self.last = 0.0
        """When the latest was."""

    def level(self, now: float) -> float:
        return max(0.0, self._level - (now - self.last) / self._each)

    def fill(self, now: float) -> None:
        self._level, self.last = self.level(now) + 1, now


class Failures:
    """Counts failures by address, by room, and in all. `tell` is called with each new one."""

    def __init__(self, time: Time, bounds: Bounds, metrics: Metrics) -> None:
        self._time = time
        self._free = bounds.max_failures_per_address
        self._room_takes = bounds.max_failures_per_room
        self._metrics = metrics
        self.tell: Callable[[Failure], None] = _nobody
        self._key = secrets.token_bytes(_KEY_BYTES)
        self._addresses: dict[Mark, _Tally] = {}
        self._rooms: dict[Mark, _Tally] = {}
        self._whole = _Tally(SERVER_COOLS_SECONDS)
        self._trying: set[Mark] = set()
        self._waiting: Counter[Mark] = Counter()
        self._ended: dict[Mark, asyncio.Event] = {}

    def share(self, key: bytes) -> None:
        """Make marks with this key from now on; those made with another mean nothing any more."""
        # Whoever has the store may have put one of any length there.
        key = blake2b(key, digest_size=_KEY_BYTES).digest()
        if key != self._key:
            self._key = key
            self._addresses.clear()
            self._rooms.clear()

    @asynccontextmanager
    async def trying(self, address: str, room: str | None) -> AsyncGenerator[None]:
        """Try something that may be wrong: what fails inside counts. Raises Refused: too_fast.

        An address tries one thing at a time, so that many at once are no more than one by one, also
        where others hear of each failure.
        """
        may_fail = self._marked(address, room)
        mark = may_fail.address
        await self._turn(may_fail)
        self._trying.add(mark)
        try:
            yield
        except Refused as refusal:
            if refusal.code in FAILURES:
                self.count(may_fail)
                self.tell(may_fail)
            raise
        finally:
            self._trying.discard(mark)
            ended = self._ended.pop(mark, None)
            if ended is not None:
                ended.set()

    def count(self, failure: Failure) -> None:
        """Count a failure, of here or of another process."""
        now = self._time.now()
        self._whole.fill(now)
        _tally(self._addresses, failure.address, FORGIVEN_SECONDS, now).fill(now)
        if failure.room is not None:
            _tally(self._rooms, failure.room, ROOM_COOLS_SECONDS, now).fill(now)

    def wait(self, address: str, room: str | None) -> float:
        """Seconds that an address has to wait for its own failures; 0: it may try."""
        return self._delay(self._marked(address, room))

    def _marked(self, address: str, room: str | None) -> Failure:
        at = None if room is None else self._mark("room", room)
        return Failure(self._mark("address", address), at)

    def _mark(self, kind: str, name: str) -> Mark:
        made = blake2b(name.encode(), digest_size=MARK_BYTES, key=self._key, person=kind.encode())
        return made.digest()

    async def _turn(self, may_fail: Failure) -> None:
        mark = may_fail.address
        self._check(may_fail)
        while mark in self._trying:
            if self._waiting[mark] >= WAITING_EACH:
                self._metrics.limited(Limit.ADDRESS_FAILURES)
                raise too_fast("Too many from here try at once; wait a little.", FIRST_DELAY)
            self._waiting[mark] += 1
            try:
                await self._ended.setdefault(mark, asyncio.Event()).wait()
            finally:
                self._waiting -= Counter((mark,))
            self._check(may_fail)

    def _check(self, may_fail: Failure) -> None:
        seconds = self._delay(may_fail)
        if seconds:
            self._refuse(may_fail, seconds)

    def _delay(self, may_fail: Failure) -> float:
        now, own = self._time.now(), self._addresses.get(may_fail.address)
        over = self._over(may_fail)
        if own is None or over <= 0:
            return 0.0
        delay = min(LONGEST_DELAY, FIRST_DELAY * 2 ** (min(over, 60) - 1))
        return max(0.0, own.last + delay - now)

    def _over(self, may_fail: Failure) -> float:
        """How far one failure more would be beyond those that are free."""
        now, own = self._time.now(), self._addresses.get(may_fail.address)
        return (own.level(now) if own else 0) + 1 - self._free_now(now, may_fail.room)

    def _free_now(self, now: float, room: Mark | None) -> int:
        there = None if room is None else self._rooms.get(room)
        if there is not None and there.level(now) > self._room_takes - 1:
            return FREE_UNDER_ATTACK
        return FREE_UNDER_ATTACK if self._whole.level(now) > SERVER_FAILURES - 1 else self._free

    def _refuse(self, may_fail: Failure, seconds: float) -> NoReturn:
        hot = self._free_now(self._time.now(), may_fail.room) < self._free
        self._metrics.limited(Limit.ROOM_FAILURES if hot else Limit.ADDRESS_FAILURES)
        raise too_fast("Too many failed tries from here; wait a little.", seconds)


def _nobody(_: Failure) -> None:
    """Nobody is to be told."""


def _tally(tallies: dict[Mark, _Tally], name: Mark, seconds_each: float, now: float) -> _Tally:
    """The tally of that name. Where there are too many, those that owe least are forgotten."""
    found = tallies.get(name)
    if found is None:
        if len(tallies) >= KEPT:
            owing = sorted(tallies, key=lambda name: tallies[name].level(now), reverse=True)
            for other in owing[KEPT * 3 // 4 :]:
                del tallies[other]
        found = tallies[name] = _Tally(seconds_each)
    return found

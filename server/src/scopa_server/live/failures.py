"""How often strangers may be wrong about a code, a token, a passcode or the access key.

A delay comes only from failures of one's own address, each longer than the one before. What others
do at a room, or all over the server, makes an address's own failures count sooner, but never delays
one that has none: whoever attacks a room can't keep its people out. Who holds a seat isn't asked.
"""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

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
    """Counts failures by address, by room, and in all."""

    def __init__(self, time: Time, bounds: Bounds, metrics: Metrics) -> None:
        self._time = time
        self._free = bounds.max_failures_per_address
        self._room_takes = bounds.max_failures_per_room
        self._metrics = metrics
        self._addresses: dict[str, _Tally] = {}
        self._rooms: dict[str, _Tally] = {}
        self._whole = _Tally(SERVER_COOLS_SECONDS)
        self._trying: Counter[str] = Counter()

    @contextmanager
    def trying(self, address: str, room: str | None) -> Generator[None]:
        """Try something that may be wrong: what fails inside counts. Raises Refused: too_fast."""
        self._check(address, room)
        self._trying[address] += 1
        try:
            yield
        except Refused as refusal:
            if refusal.code in FAILURES:
                self._count(address, room)
            raise
        finally:
            self._trying -= Counter((address,))

    def wait(self, address: str, room: str | None) -> float:
        """Seconds until this address may try again; 0: now."""
        now, own = self._time.now(), self._addresses.get(address)
        trying = self._trying[address]
        over = trying - self._free_now(now, room) + (own.level(now) if own else 0) + 1
        if over <= 0:
            return 0.0
        # Tries that wait for their outcome count, or many at once would be free.
        if own is None or trying:
            return FIRST_DELAY if trying else 0.0
        delay = min(LONGEST_DELAY, FIRST_DELAY * 2 ** (min(over, 60) - 1))
        return max(0.0, own.last + delay - now)

    def _free_now(self, now: float, room: str | None) -> int:
        there = self._rooms.get(room or "")
        if there is not None and there.level(now) > self._room_takes - 1:
            return FREE_UNDER_ATTACK
        return FREE_UNDER_ATTACK if self._whole.level(now) > SERVER_FAILURES - 1 else self._free

    def _check(self, address: str, room: str | None) -> None:
        seconds = self.wait(address, room)
        if not seconds:
            return
        now = self._time.now()
        hot = self._free_now(now, room) < self._free
        self._metrics.limited(Limit.ROOM_FAILURES if hot else Limit.ADDRESS_FAILURES)
        raise too_fast("Too many failed tries from here; wait a little.", seconds)

    def _count(self, address: str, room: str | None) -> None:
        now = self._time.now()
        self._whole.fill(now)
        _tally(self._addresses, address, FORGIVEN_SECONDS, now).fill(now)
        if room is not None:
            _tally(self._rooms, room, ROOM_COOLS_SECONDS, now).fill(now)


def _tally(tallies: dict[str, _Tally], name: str, seconds_each: float, now: float) -> _Tally:
    """The tally of that name. Where there are too many, those that owe least are forgotten."""
    found = tallies.get(name)
    if found is None:
        if len(tallies) >= KEPT:
            owing = sorted(tallies, key=lambda name: tallies[name].level(now), reverse=True)
            for other in owing[KEPT * 3 // 4 :]:
                del tallies[other]
        found = tallies[name] = _Tally(seconds_each)
    return found

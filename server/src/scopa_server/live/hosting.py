"""Opening rooms: how many there may be, in all and of one address, and how fast they come."""

from collections import Counter, defaultdict
from collections.abc import Container, Generator, Sized
from contextlib import contextmanager
from typing import Final, Protocol

from scopa_protocol.codes import ErrorCode
from scopa_server.allowance import Allowance
from scopa_server.bounds import Bounds
from scopa_server.metrics import Limit, Metrics
from scopa_server.room.refused import Refused

from .answers import too_fast
from .time import Time

HOUR: Final = 3600.0
KEPT: Final = 10_000
"""Addresses that are remembered."""


class _Shown(Container[str], Sized, Protocol):
    """The codes of the rooms in use."""


class Hosting:
    """Who has opened which of the rooms in use. `shown`: these rooms."""

    def __init__(self, shown: _Shown, time: Time, bounds: Bounds, metrics: Metrics) -> None:
        self._shown = shown
        self._time = time
        self._bounds = bounds
        self._metrics = metrics
        self._opening: Counter[str | None] = Counter()
        self._opened: defaultdict[str, set[str]] = defaultdict(set)
        self._paces: dict[str, Allowance] = {}

    @contextmanager
    def opening(self, code: str, address: str, *, local: bool = False) -> Generator[None]:
        """Open a room; it counts if nothing is raised inside. Raises Refused."""
        counted = address if self._bounds.holds("max_rooms_per_address", local=local) else None
        self._check_rooms(counted)
        if self._bounds.holds("max_new_rooms_per_hour", local=local):
            self._check_pace(address)
        self._opening[counted] += 1
        try:
            yield
            if counted is not None:
                self._opened[counted].add(code)
        finally:
            self._opening -= Counter((counted,))

    def _check_rooms(self, address: str | None) -> None:
        bounds = self._bounds
        if len(self._shown) + self._opening.total() >= bounds.max_rooms:
            raise self._full(
                Limit.ROOMS, "The server has all the rooms it can; try again in a while."
            )
        if address is not None and self._in_use(address) >= bounds.max_rooms_per_address:
            raise self._full(
                Limit.ADDRESS_ROOMS,
                "As many rooms as may be opened from one address are in use; leave one first.",
            )

    def _check_pace(self, address: str) -> None:
        seconds = self._pace(address).take(self._time.now())
        if seconds:
            self._metrics.limited(Limit.NEW_ROOMS)
            raise too_fast("Too many rooms were opened from here; wait a little.", seconds)

    def _full(self, limit: Limit, message: str) -> Refused:
        self._metrics.limited(limit)
        return Refused(ErrorCode.SERVER_FULL, message)

    def _in_use(self, address: str) -> int:
        """Rooms of an address that are in use or being opened; what is left is forgotten."""
        kept = {code for code in self._opened[address] if code in self._shown}
        if kept:
            self._opened[address] = kept
        else:
            del self._opened[address]
        return len(kept) + self._opening[address]

    def _pace(self, address: str) -> Allowance:
        pace = self._paces.get(address)
        if pace is None:
            if len(self._paces) >= KEPT:
                self._forget()
            each = self._bounds.max_new_rooms_per_hour
            pace = self._paces[address] = Allowance(each, HOUR / each)
        return pace

    def _forget(self) -> None:
        """Drop addresses that owe nothing and have no room; if most do, the oldest."""
        now = self._time.now()
        self._paces = {at: pace for at, pace in self._paces.items() if not pace.is_whole(now)}
        for address in list(self._paces)[: max(0, len(self._paces) - KEPT * 3 // 4)]:
            del self._paces[address]
        for address in list(self._opened):
            self._in_use(address)

"""How often a stranger may be wrong: failed looks, joins and resumes, by address and in all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from scopa_protocol.codes import ErrorCode

FAILURES: Final = frozenset(
    {
        ErrorCode.UNKNOWN_ROOM,
        ErrorCode.WRONG_PASSCODE,
        ErrorCode.BAD_TOKEN,
        ErrorCode.BAD_KEY,
    }
)
ADDRESSES_KEPT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """So many failures at once, and one more each so many seconds."""

    burst: int
    seconds_each: float


EACH_ADDRESS: Final = Allowance(60, 1.0)
WHOLE_SERVER: Final = Allowance(1000, 0.05)


class _Bucket:
    """Failures that count, draining as time goes by."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._level = 0.0
        self._at = 0.0

    def level(self, now: float) -> float:
        drained = (now - self._at) / self._allowance.seconds_each
        self._level, self._at = max(0.0, self._level - drained), now
        return self._level

    def fill(self, now: float) -> None:
        self._level = self.level(now) + 1

    def wait(self, now: float) -> float:
        """Seconds until one more failure is allowed."""
        over = self.level(now) + 1 - self._allowance.burst
        return max(0.0, over * self._allowance.seconds_each)


class Failures:
    """Counts failures. `now` gives monotonic seconds."""

    def __init__(
        self,
        now: Callable[[], float],
        each: Allowance = EACH_ADDRESS,
        whole: Allowance = WHOLE_SERVER,
    ) -> None:
        self._now = now
        self._each = each
        self._whole = _Bucket(whole)
        self._addresses: dict[str, _Bucket] = {}

    def wait_ms(self, address: str) -> int:
        """How long this address must wait before it may try again; 0: now."""
        now = self._now()
        bucket = self._addresses.get(address)
        waits = [self._whole.wait(now), bucket.wait(now) if bucket else 0.0]
        return round(max(waits) * 1000)

    def count(self, address: str) -> None:
        """Something failed."""
        now = self._now()
        self._whole.fill(now)
        if address not in self._addresses and len(self._addresses) >= ADDRESSES_KEPT:
            self._forget(now)
        self._addresses.setdefault(address, _Bucket(self._each)).fill(now)

    def _forget(self, now: float) -> None:
        """Drop the addresses that owe nothing; if most do, the oldest, so that it rarely comes."""
        owing = [item for item in self._addresses.items() if item[1].level(now) > 0]
        self._addresses = dict(owing[-ADDRESSES_KEPT * 3 // 4 :])

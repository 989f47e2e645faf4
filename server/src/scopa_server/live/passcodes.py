"""Passcodes, kept as scrypt hashes. Hashing takes tens of milliseconds, so never in a room."""

import asyncio
import hashlib
import hmac
import os
import secrets
import unicodedata
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from scopa_protocol.codes import ErrorCode
from scopa_server.metrics import Limit, Metrics
from scopa_server.room.refused import Refused

from .answers import too_fast

_Kept = TypeVar("_Kept")
_Result = TypeVar("_Result")

ADDRESSES: Final = 1000
"""Addresses whose passcodes may wait at once."""
WAITING_EACH: Final = 20
"""Passcodes of one address that may."""
BUSY_SECONDS: Final = 0.5
THREADS: Final = max(1, (os.cpu_count() or 1) // 2)
_COST: Final = 2**14
_NOBODYS: Final = f"{'00' * 16}:{'00' * 32}"
"""Kept for no room: what a stranger's passcode is tried on where there is none to try it on."""


def _scrypt(passcode: str, salt: bytes) -> bytes:
    return hashlib.scrypt(passcode.encode(), salt=salt, n=_COST, r=8, p=1, dklen=32)


def _hash(passcode: str, room: str | None) -> str:
    salt = secrets.token_bytes(16) if room is None else hashlib.sha256(room.encode()).digest()
    return f"{salt.hex()}:{_scrypt(passcode, salt).hex()}"


def _matches(passcode: str, kept: str) -> bool:
    salt, _, digest = kept.partition(":")
    same = hmac.compare_digest(_scrypt(passcode, bytes.fromhex(salt)).hex(), digest)
    # Scrypt takes a word and that word with NULs behind it for one.
    return same and "\0" not in passcode


def _is_typed(passcode: str) -> bool:
    return not any(unicodedata.category(char) == "Cc" for char in passcode)


class Passcodes:
    """Hashes and checks passcodes on threads of its own, one at a time of each address.

    Right ones cost as much as wrong ones, and nobody counts those: so addresses take turns, and who
    brings one waits behind one of each other address, whatever these bring.
    """

    def __init__(self, metrics: Metrics, threads: int = THREADS) -> None:
        self._metrics = metrics
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="passcodes")
        self._waiting: Counter[str] = Counter()
        self._turns: dict[str, asyncio.Lock] = {}

    async def hash(self, passcode: str, address: str, room: str | None = None) -> str:
        """What the log keeps of a passcode; the same each time for the same code of a room.

        Raises Refused: bad_text, too_fast.
        """
        if not _is_typed(passcode):
            raise Refused(
                ErrorCode.BAD_TEXT,
                "A passcode has no control characters, such as a tab; choose another.",
            )
        return await self._run(address, _hash, passcode, room)

    async def matches(self, passcode: str | None, kept: str | None, address: str) -> bool:
        """Whether a passcode is the one that is kept; the work is the same if none is, or given.

        Raises Refused: too_fast.
        """
        return await self._run(address, _matches, passcode or "", kept or _NOBODYS)

    async def _run(self, address: str, work: Callable[[str, _Kept], _Result], *on: Any) -> _Result:
        waiting = self._waiting[address]
        if waiting >= WAITING_EACH or (not waiting and len(self._turns) >= ADDRESSES):
            self._metrics.limited(Limit.PASSCODES)
            raise too_fast("Many passcodes are being checked; try again in a moment.", BUSY_SECONDS)
        self._waiting[address] += 1
        try:
            async with self._turns.setdefault(address, asyncio.Lock()):
                return await asyncio.get_running_loop().run_in_executor(self._pool, work, *on)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address], self._turns[address]

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown(wait=False, cancel_futures=True)

"""Passcodes, kept as scrypt hashes. Hashing takes tens of milliseconds, so never in a room."""

import asyncio
import hashlib
import hmac
import os
import secrets
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from .answers import too_fast

_Kept = TypeVar("_Kept")
_Result = TypeVar("_Result")

WAITING: Final = 100
WAITING_EACH: Final = 8
"""Passcodes of one address that wait at once: nobody's shall wait behind all of one stranger's."""
BUSY_SECONDS: Final = 0.5
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
    return hmac.compare_digest(_scrypt(passcode, bytes.fromhex(salt)).hex(), digest)


class Passcodes:
    """Hashes and checks passcodes on threads of its own, a few at a time and of one address."""

    def __init__(self, threads: int = max(1, (os.cpu_count() or 1) // 2)) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="passcodes")
        self._waiting: Counter[str] = Counter()

    async def hash(self, passcode: str, address: str, room: str | None = None) -> str:
        """What the log keeps of a passcode; the same each time for the same code of a room.

        Raises Refused: too_fast.
        """
        return await self._run(address, _hash, passcode, room)

    async def matches(self, passcode: str | None, kept: str | None, address: str) -> bool:
        """Whether a passcode is the one that is kept; the work is the same if none is, or given.

        Raises Refused: too_fast.
        """
        return await self._run(address, _matches, passcode or "", kept or _NOBODYS)

    async def _run(self, address: str, work: Callable[[str, _Kept], _Result], *on: Any) -> _Result:
        if self._waiting[address] >= WAITING_EACH or self._waiting.total() >= WAITING:
            raise too_fast("Many passcodes are being checked; try again in a moment.", BUSY_SECONDS)
        self._waiting[address] += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work, *on)
        finally:
            self._waiting -= Counter((address,))

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown(wait=False, cancel_futures=True)

"""Passcodes, kept as scrypt hashes. Hashing takes tens of milliseconds, so never in a room."""

import asyncio
import hashlib
import hmac
import os
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Final

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
    """Hashes and checks passcodes on threads of its own, a few at a time."""

    def __init__(self, threads: int = max(1, (os.cpu_count() or 1) // 2)) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="passcodes")

    async def hash(self, passcode: str, room: str | None = None) -> str:
        """What the log keeps of a passcode; the same each time for the same code of a room."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, _hash, passcode, room)

    async def matches(self, passcode: str | None, kept: str | None) -> bool:
        """Whether a passcode is the one that is kept; the work is the same if none is, or given."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, _matches, passcode or "", kept or _NOBODYS)

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown(wait=False, cancel_futures=True)

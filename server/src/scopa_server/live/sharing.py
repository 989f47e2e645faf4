"""Failed tries, told to the other processes on the store; theirs count here: one allowance for all.

What is told is a hint. One that is lost leaves an address some tries more, and nothing else.
"""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Annotated, Final

import msgspec
import structlog
from msgspec import Meta, Struct

from scopa_server.journal.interface import Journal, Unavailable

from .failures import Failure, Failures

log = structlog.stdlib.get_logger()

TOLD_AT_ONCE: Final = 500
"""Failures that wait to be told; of more the oldest are not."""
KEY_ASKED_SECONDS: Final = 60
"""How often the key that processes share is asked for: a store may have lost it."""
KEY_KEPT_SECONDS: Final = 3600
"""How long the store keeps the key when nobody asks for it any more."""
RETRY_SECONDS: Final = 1


class Told(Struct, frozen=True, array_like=True):
    """What one process tells the others."""

    process: str
    failed: Annotated[tuple[Failure, ...], Meta(max_length=TOLD_AT_ONCE)]


_decode: Final = msgspec.msgpack.Decoder(Told).decode


class Sharing:
    """Exchanges failures with other processes. `process`: names this one among them."""

    def __init__(self, journal: Journal, failures: Failures, process: str) -> None:
        self._journal = journal
        self._failures = failures
        self._process = process
        self._untold: deque[Failure] = deque(maxlen=TOLD_AT_ONCE)
        self._fresh = asyncio.Event()
        failures.tell = self._put

    async def run(self) -> None:
        """Tell and hear, for as long as the server runs."""
        while True:
            try:
                async with asyncio.TaskGroup() as tasks:
                    for work in (self._agree, self._hear, self._tell):
                        tasks.create_task(work(), name="share failures")
            except* Exception:
                # Processes that stopped listening would give each its own allowance for good.
                log.exception("sharing_fault")
            await asyncio.sleep(RETRY_SECONDS)

    def _put(self, failure: Failure) -> None:
        self._untold.append(failure)
        self._fresh.set()

    async def _agree(self) -> None:
        """Make marks as the others do."""
        while True:
            try:
                self._failures.share(await self._journal.shared_key(KEY_KEPT_SECONDS))
                await asyncio.sleep(KEY_ASKED_SECONDS)
            except Unavailable:
                await asyncio.sleep(RETRY_SECONDS)

    async def _hear(self) -> None:
        while True:
            try:
                async with self._journal.published() as published:
                    async for words in published:
                        self._count(words)
                return
            except Unavailable:
                log.warning("failures_not_shared")
                await asyncio.sleep(RETRY_SECONDS)

    def _count(self, words: bytes) -> None:
        try:
            told = _decode(words)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if told.process != self._process:
            for failure in told.failed:
                self._failures.count(failure)

    async def _tell(self) -> None:
        """What fails while others are told goes out together."""
        while True:
            await self._fresh.wait()
            self._fresh.clear()
            told = Told(self._process, tuple(self._untold))
            self._untold.clear()
            with suppress(Unavailable):
                await self._journal.publish(msgspec.msgpack.encode(told))

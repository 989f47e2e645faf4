"""What a session tells of its line, and the waiting that it does."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from scopa_protocol.frames import Error, ServerFrame

from .backoff import delays
from .outstanding import Waiting

SOONEST: Final = 1.0
"""Seconds between two tries at least, for who hurries: a key held down is no flood."""


class Got(Struct, frozen=True, kw_only=True):
    """A frame came: as it was read (None: of a later version), as it came, what it answers."""

    frame: ServerFrame | None
    data: bytes
    answers: list[Waiting]
    opening: bool


class Lost(Struct, frozen=True, kw_only=True):
    """The line dropped; the next try is in `delay` seconds."""

    why: str
    delay: float


class Busy(Struct, frozen=True, kw_only=True):
    """The server asked to try again; the command is sent again in `delay` seconds."""

    error: Error
    delay: float


Heard: TypeAlias = Got | Lost | Busy


class Timing(Struct, kw_only=True):
    """The waiting that a session does; tests bring their own."""

    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    delays: Callable[[], Iterator[float]] = delays
    answer_seconds: float = 20.0

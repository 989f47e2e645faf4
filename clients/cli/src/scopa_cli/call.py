"""A short errand at a server: in, a few questions, and out. Nothing is tried twice but a wait."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from typing import Final, TypeVar

from msgspec import structs
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from scopa_protocol.codec import JSON
from scopa_protocol.codes import RETRYABLE, ErrorCode
from scopa_protocol.commands import ClientCommand
from scopa_protocol.frames import Bye, Error, Hello, ServerFrame

from .closing import verdict
from .dial import FAULTS, Dial, dial, fault_ending
from .refusals import explain

PATIENCE: Final = 15.0
"""Seconds that an answer may take."""
MOST_TRIES: Final = 5
SEAT_UNKNOWN: Final = (
    "The server has that room no more, or doesn't know this seat any more: --watch asks as one who "
    "watches."
)
LONGEST_WAIT: Final = 10.0

T = TypeVar("T", bound=ServerFrame)


class Failed(Exception):
    """The errand came to nothing; the text says why."""


class Call:
    """A connection that was greeted."""

    def __init__(self, ws: ClientConnection, hello: Hello) -> None:
        self._ws = ws
        self.hello = hello
        self._numbers = count(1)

    async def ask(self, command: ClientCommand, kind: type[T]) -> T:
        """Send a command; its answer, which has to be of this kind. Raises Failed."""
        for _ in range(MOST_TRIES):
            answer = await self._answer(command)
            if isinstance(answer, kind):
                return answer
            if not isinstance(answer, Error):
                break
            if answer.code not in RETRYABLE:
                raise Failed(_refusal(answer))
            await asyncio.sleep(_wait(answer))
        raise Failed("The server didn't answer what was asked: try again later.")

    async def _answer(self, command: ClientCommand) -> ServerFrame:
        number = next(self._numbers)
        await self._ws.send(JSON.encode(structs.replace(command, id=number)).decode())
        while True:
            frame = await _frame(self._ws)
            if isinstance(frame, Bye):
                raise Failed(frame.message or "The server said goodbye.")
            re = getattr(frame, "re", None)
            if frame is not None and (re == number or (isinstance(re, list) and number in re)):
                return frame


def _refusal(error: Error) -> str:
    """Why an errand is refused: it comes back to a seat, and takes none."""
    return SEAT_UNKNOWN if error.code == ErrorCode.BAD_TOKEN else explain(error)


def _wait(error: Error) -> float:
    milliseconds = (error.details or {}).get("retry_ms")
    if isinstance(milliseconds, int | float) and milliseconds >= 0:
        return min(float(milliseconds) / 1000, LONGEST_WAIT)
    return 1.0


async def _frame(ws: ClientConnection) -> ServerFrame | None:
    try:
        async with asyncio.timeout(PATIENCE):
            return JSON.decode_frame(await ws.recv(decode=False))
    except TimeoutError:
        raise Failed("The server doesn't answer.") from None
    except ValueError:
        raise Failed("What answers there doesn't speak as a Scopa server does.") from None


@asynccontextmanager
async def call(endpoint: str, dialled: Dial = dial) -> AsyncGenerator[Call, None]:
    """A connection for an errand. Raises Failed."""
    try:
        ws = await dialled(endpoint)
    except FAULTS as fault:
        raise Failed(fault_ending(endpoint, fault).why) from None
    try:
        hello = await _frame(ws)
        if not isinstance(hello, Hello):
            raise Failed("What answers there doesn't speak as a Scopa server does.")
        yield Call(ws, hello)
    except ConnectionClosed:
        raise Failed(verdict(ws.close_code, None).why) from None
    finally:
        await ws.close()

"""A worker: a whole server of its own that shares its port, and answers its supervisor."""

import asyncio
import os
import pickle
import signal
import socket
from contextlib import suppress
from functools import partial
from typing import Final

import structlog

from scopa_server import app
from scopa_server.config import Config
from scopa_server.startup import CannotStart
from scopa_server.workers.line import Gone, Line, Question, first, framed

_READY_SECONDS: Final = 1.0
"""Less than the supervisor waits: a store that hangs isn't taken for a worker that does."""

_log = structlog.stdlib.get_logger()


def run(number: int) -> int:
    """Serve until the supervisor says stop, or is gone; returns the exit status."""
    # A terminal that closes tells all its processes; the supervisor says what becomes of it.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    end = _standard_input()
    try:
        config: Config
        file: int | None
        config, file = pickle.loads(first(end))  # noqa: S301 - from the parent process alone
    except Gone:
        return 1
    try:
        return app.run(
            config,
            partial(stay, end),
            worker=number,
            introductions=None if file is None else socket.socket(fileno=file),
        )
    except CannotStart as error:
        with suppress(OSError):
            end.sendall(framed(str(error).encode()))
        return 1


def _standard_input() -> socket.socket:
    """The line's end, taken out of standard input so that nothing else reads from it."""
    end = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return end


async def stay(end: socket.socket, served: app.Served, stop: asyncio.Event) -> None:
    """Answer the supervisor until it is time to stop."""
    line = await Line.over(end)
    answering = asyncio.create_task(_answer(line, served, stop), name="line")
    await stop.wait()
    await app.cancelled(answering)
    line.close()


async def _answer(line: Line, served: app.Served, stop: asyncio.Event) -> None:
    try:
        await line.send(b"")
        while True:
            if await line.receive() == Question.READY:
                await line.send((await _why_not(served)).encode())
            else:
                await line.send(served.metrics.render())
    except Gone:
        pass
    except Exception:
        _log.exception("line_fault")
    finally:
        # Who can't hear of its supervisor must not outlive it.
        stop.set()


async def _why_not(served: app.Served) -> str:
    try:
        async with asyncio.timeout(_READY_SECONDS):
            return await served.why_not() or ""
    except TimeoutError:
        return "the store doesn't answer"
    except Exception as error:
        # Its message may name the store, password and all.
        _log.warning("the check for readiness failed", error=type(error).__name__)
        return "the check failed"

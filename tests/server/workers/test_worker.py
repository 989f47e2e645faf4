"""A worker answers its supervisor whatever becomes of the answer, and ends without it."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from scopa_server.app import Served
from scopa_server.metrics import Metrics
from scopa_server.workers import worker
from scopa_server.workers.line import Gone, Line, Question

PATIENCE = 30


async def hangs() -> str | None:
    await asyncio.Event().wait()
    return None


async def fails() -> str | None:
    raise ValueError("redis://:S3cret@cache")


@asynccontextmanager
async def serving(why_not: Callable[[], Awaitable[str | None]]) -> AsyncIterator[Line]:
    """The supervisor's end of a worker's line; the worker ends once nobody is there."""
    ours, theirs = socket.socketpair()
    served = Served(port=1, metrics=Metrics(), why_not=why_not)
    staying = asyncio.create_task(worker.stay(theirs, served, asyncio.Event()))
    line = await Line.over(ours)
    async with asyncio.timeout(PATIENCE):
        assert await line.receive() == b""
        yield line
        line.close()
        await staying


@pytest.mark.parametrize(
    ("why_not", "said"), [(hangs, b"the store doesn't answer"), (fails, b"the check failed")]
)
async def test_a_check_without_an_answer_is_answered(
    why_not: Callable[[], Awaitable[str | None]], said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_READY_SECONDS", 0)
    async with serving(why_not) as line:
        await line.send(Question.READY)
        assert await line.receive() == said
        await line.send(Question.METRICS)
        assert b"scopa_" in await line.receive()


async def test_whoever_can_answer_no_more_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(metrics: Metrics) -> bytes:
        raise ValueError

    monkeypatch.setattr(Metrics, "render", unable)
    async with serving(hangs) as line:
        await line.send(Question.METRICS)
        with pytest.raises(Gone):
            await line.receive()

"""A worker is started, and how long one that dies is left alone."""

import asyncio
import signal

import pytest

from scopa_server.config import parse
from scopa_server.workers import keeper
from scopa_server.workers.keeper import Keeper, delay_after

PATIENCE = 30
SERVES = r"printf '\0\0\0\0' >&0"
"""What a worker says once it serves, as a shell says it."""


def shell(script: str) -> list[str]:
    """A command that stands for a worker; it is given a worker's words after the script."""
    return ["/bin/sh", "-c", script, "sh"]


async def test_a_worker_that_can_t_be_started_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "_command", lambda: ["/nowhere/python"])
    kept = Keeper(1, parse([], {}))
    async with asyncio.timeout(PATIENCE):
        assert await kept.outcome == "a worker can't be started: No such file or directory"
        assert not await kept.stop()


def test_a_worker_that_dies_again_and_again_is_started_less_and_less_often() -> None:
    delays = [delay_after(failures) for failures in range(20)]
    assert delays[:3] == [0.1, 0.2, 0.4]
    assert delays == sorted(delays)
    assert max(delays) == 30


async def test_a_worker_is_started_again_once_that_is_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each stands for one life: it says that it serves, is ended, can't be started, serves."""
    serves = shell(f"{SERVES}; cat >/dev/null")
    lives = iter([serves, ["/nowhere/python"], serves])
    monkeypatch.setattr(keeper, "_command", lambda: next(lives))
    kept = Keeper(1, parse([], {}))
    async with asyncio.timeout(PATIENCE):
        assert await kept.outcome == ""
        kept.send(signal.SIGKILL)
        while kept.restarts < 2 or kept.pid is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await kept.stop()

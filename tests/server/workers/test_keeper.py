"""A worker is started, and how long one that dies is left alone."""

import asyncio
import errno
import signal
import socket
from pathlib import Path

import pytest

from scopa_server.config import parse
from scopa_server.workers import keeper
from scopa_server.workers.keeper import Keeper, delay_after

PATIENCE = 30
SERVES = r"printf '\0\0\0\0' >&0"
"""What a worker says once it serves, as a shell says it."""
NAP = "sleep 0.02; done"


def shell(script: str) -> list[str]:
    """A command that stands for a worker; it is given a worker's words after the script."""
    return ["/bin/sh", "-c", script, "sh"]


async def test_a_worker_that_can_t_be_started_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "_command", lambda: ["/nowhere/python"])
    kept = Keeper(1, parse([], {}))
    async with asyncio.timeout(PATIENCE):
        assert await kept.outcome == "a worker can't be started: No such file or directory"
        assert not await kept.stop()


async def test_a_worker_is_tried_again_where_there_were_no_files_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs, lives = socket.socketpair, iter([True, False])

    def short() -> tuple[socket.socket, socket.socket]:
        if next(lives, True):
            return pairs()
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(keeper, "_command", lambda: shell(f"{SERVES}; cat >/dev/null"))
    monkeypatch.setattr(socket, "socketpair", short)
    kept = Keeper(1, parse([], {}))
    async with asyncio.timeout(PATIENCE):
        assert await kept.outcome == ""
        kept.send(signal.SIGKILL)
        while kept.restarts < 2 or kept.pid is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await kept.stop()


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


@pytest.mark.usefixtures("as_from_a_terminal")
async def test_a_worker_hears_of_a_new_certificate_once_it_can(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    go, told = tmp_path / "go", tmp_path / "told"
    hears = f"until [ -e {go} ]; do {NAP}; trap 'touch {told}' HUP; {SERVES}"
    script = f"{hears}; until [ -e /nowhere ]; do {NAP}"
    monkeypatch.setattr(keeper, "_command", lambda: shell(script))
    kept = Keeper(1, parse([], {}))
    async with asyncio.timeout(PATIENCE):
        while kept.pid is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        kept.reload()
        go.touch()
        assert await kept.outcome == ""
        while not told.exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await kept.stop()


@pytest.mark.parametrize(
    "script",
    ["exec cat", f"trap 'exit 130' TERM; until [ -e /nowhere ]; do {NAP}"],
    ids=["signalled", "interrupted"],
)
async def test_a_worker_stopped_before_it_serves_ends_in_order(
    script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "_command", lambda: shell(script))
    kept = Keeper(1, parse([], {}))
    async with asyncio.timeout(PATIENCE):
        while kept.pid is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert await kept.stop()

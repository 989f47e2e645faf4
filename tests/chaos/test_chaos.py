"""Every fault once, small: `make chaos` is the whole of it."""

import os
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeAlias

import pytest
import pytest_asyncio

from support.redis_server import programs

from . import FAULTS
from .scene import SHORT, Fault, perform
from .stage import Stage, open_files

SEED = 1
ONCE = [fault for fault in FAULTS if not fault.again]
Staged: TypeAlias = Callable[[str], Awaitable[Stage]]

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def staged(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Staged]:
    """Sets a stage for each kind of store, one for all its faults."""
    stages: dict[str, Stage] = {}

    async def opened(kind: str) -> Stage:
        if kind not in stages:
            stage = Stage(tmp_path_factory.mktemp(kind), kind, SEED, SHORT.program)
            stages[kind] = await stack.enter_async_context(stage)
        return stages[kind]

    async with AsyncExitStack() as stack:
        yield opened


@pytest.mark.parametrize("fault", ONCE, ids=[fault.name for fault in ONCE])
async def test_what_must_hold_after_each_fault(fault: Fault, staged: Staged) -> None:
    stage = await staged("sqlite" if fault.sqlite else min(programs()))
    result = await perform(stage, fault, SHORT)
    assert result.broken == {"on": [], "kept": [], "agree": [], "clean": []}
    assert result.plays > 0


async def test_names_tell_faults_apart() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


async def test_a_socket_that_was_reset_and_kept_is_counted() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        before = open_files(os.getpid(), port, 0)
        with socket.create_connection(("127.0.0.1", port)) as kept:
            here, _ = listening.accept()
            with here:
                assert open_files(os.getpid(), port, 0).lines == before.lines + 1
                here.shutdown(socket.SHUT_WR)
                assert kept.recv(1) == b""
                # Both ends are this process's.
                assert open_files(os.getpid(), port, 0).ending == before.ending + 2
                here.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            found = open_files(os.getpid(), port, 0)
            assert found == before._replace(rest=before.rest + 1)
        assert open_files(os.getpid(), port, 0) == before

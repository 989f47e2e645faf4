"""What is pushed down a pipe, as a real client reads it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.frames import Frame, Opcode

from scopa_server.gateway.pipe import Pipe

SIZES = [0, 1, 125, 126, 127, 3000, 65535, 65536, 100_000]


@asynccontextmanager
async def joined(**how: Any) -> AsyncGenerator[tuple[Pipe, ClientConnection], None]:
    """A pipe and the client at its other end."""
    met = asyncio.get_running_loop().create_future()

    async def meet(pipe: ServerConnection) -> None:
        met.set_result(pipe)
        await pipe.wait_closed()

    async with serve(meet, "127.0.0.1", 0, create_connection=Pipe, **how) as server:
        port = server.sockets[0].getsockname()[1]
        async with connect(f"ws://127.0.0.1:{port}", proxy=None, max_size=None) as client:
            yield await met, client


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("compression", [None, "deflate"])
async def test_every_size_arrives_whole_and_in_order(text: bool, compression: str | None) -> None:
    async with joined(compression=compression) as (pipe, client):
        for size in SIZES:
            message = b"x" * size
            assert pipe.push(message, text=text)
            assert await client.recv() == (message.decode() if text else message)


@pytest.mark.parametrize("size", SIZES)
async def test_a_frame_is_written_as_the_library_would(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with joined(compression=None) as (pipe, client):
        written = list[bytes]()
        monkeypatch.setattr(pipe.transport, "write", written.append)
        pipe.push(b"x" * size, text=True)
        monkeypatch.undo()
        assert b"".join(written) == Frame(Opcode.TEXT, b"x" * size).serialize(mask=False)
        pipe.push(b"last", text=True)
        assert await client.recv() == "last"


async def test_what_is_pushed_stays_in_order_with_what_is_sent() -> None:
    async with joined(compression=None) as (pipe, client):
        pipe.push(b"1", text=True)
        await pipe.send("2")
        pipe.push(b"3", text=True)
        assert [await client.recv() for _ in range(3)] == ["1", "2", "3"]


async def test_a_closed_pipe_takes_it_and_sends_nothing() -> None:
    async with joined(compression=None) as (pipe, client):
        await pipe.close(4001, "over")
        assert not pipe.push(b"late", text=True)
        await client.wait_closed()
        assert client.close_code == 4001
    assert not pipe.push(b"later", text=True)


async def test_who_does_not_read_makes_it_stuck_and_reading_frees_it() -> None:
    async with joined(compression=None) as (pipe, client):
        heard = asyncio.Queue[str]()
        pipe.stuck = lambda: heard.put_nowait("stuck")
        pipe.freed = lambda: heard.put_nowait("freed")
        client.transport.pause_reading()
        pushed = 0
        while heard.empty():
            pipe.push(b"x" * 3000, text=True)
            pushed += 1
            await asyncio.sleep(0)
        client.transport.resume_reading()
        for _ in range(pushed):
            await client.recv()
        assert [await heard.get(), await heard.get()] == ["stuck", "freed"]

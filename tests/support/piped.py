"""A pipe by itself, and a real client at its other end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve

from scopa_server.gateway.pipe import Pipe


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

"""A server that plays scripted scenes, one for each connection that comes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias, TypeVar

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from scopa_protocol.codec import JSON
from scopa_protocol.commands import ClientCommand, Create, Join, Look, Resume, Watch
from scopa_protocol.frames import Bye, Frame
from scopa_protocol.views import View
from support.server_frames import HELLO, a_room, joined

PATIENCE = 60.0

T = TypeVar("T", bound=ClientCommand)


class Peer:
    """One connection, as the server has it."""

    def __init__(self, ws: ServerConnection) -> None:
        self.ws = ws

    async def send(self, frame: Frame) -> None:
        """Send a frame."""
        await self.ws.send(JSON.encode(frame).decode())

    async def hear(self, kind: type[T]) -> T:
        """The next command, which has to be of this kind and numbered."""
        command = await self._next()
        assert isinstance(command, kind), f"{command!r} came, not {kind.__name__}"
        return command

    async def _next(self) -> ClientCommand:
        async with asyncio.timeout(PATIENCE):
            data = await self.ws.recv(decode=False)
        command = JSON.decode_command(data)
        assert command.id is not None
        return command

    async def number(self, kind: type[T]) -> int:
        """The number of the next command, which has to be of this kind."""
        number = (await self.hear(kind)).id
        assert number is not None
        return number

    async def let_in(self, view: View, kind: type[Create | Join | Resume | Watch]) -> ClientCommand:
        """Greet, show the room where that is asked first, and answer what enters it."""
        await self.send(HELLO)
        command = await self._next()
        if isinstance(command, Look):
            await self.send(a_room(view, command.id))
            command = await self._next()
        assert isinstance(command, kind), f"{command!r} came, not {kind!r}"
        await self.send(joined(view, command.id))
        return command

    async def bye(self, code: int, *, retry: bool, why: str = "restarting") -> None:
        """Say goodbye and close."""
        await self.send(Bye(code=why, message="The server says goodbye.", retry=retry))
        await self.ws.close(code)

    def drop(self) -> None:
        """Lose the line without a word."""
        self.ws.transport.abort()

    async def gone(self) -> None:
        """Wait until the client has closed; what it still sends is passed over."""
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    await self.ws.recv()
        except ConnectionClosed:
            return


Scene: TypeAlias = Callable[[Peer], Awaitable[None]]


class FakeServer:
    """Where it listens, and what went wrong in its scenes."""

    def __init__(self, scenes: tuple[Scene, ...]) -> None:
        self.endpoint = ""
        self.faults: list[BaseException] = []
        self._scenes = list(scenes)

    @property
    def scenes_left(self) -> int:
        """How many connections are still expected."""
        return len(self._scenes)

    async def play(self, ws: ServerConnection) -> None:
        """One connection: the next scene."""
        try:
            assert self._scenes, "one connection more than there are scenes"
            await self._scenes.pop(0)(Peer(ws))
        except (AssertionError, TimeoutError, ConnectionClosed, ValueError) as fault:
            self.faults.append(fault)
            raise


@asynccontextmanager
async def fake_server(*scenes: Scene) -> AsyncIterator[FakeServer]:
    """A server on a free port; afterwards, every scene must have gone as written."""
    server = FakeServer(scenes)
    protocols = [Subprotocol("scopa.v1.json")]
    async with serve(
        server.play, "127.0.0.1", 0, subprotocols=protocols, compression=None, close_timeout=1
    ) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        server.endpoint = f"ws://127.0.0.1:{port}/ws"
        yield server
    if server.faults:
        raise server.faults[0]
    assert not server.scenes_left, "a connection never came"

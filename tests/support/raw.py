"""A client that sends whatever it is told to, well-formed or not."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

PATIENCE: Final = 60
"""Seconds that anything may take."""
JSON: Final = "scopa.v1.json"
MSGPACK: Final = "scopa.v1.msgpack"


class Raw:
    """One connection; frames are plain maps."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.binary = socket.subprotocol == MSGPACK

    async def send(self, frame: Any) -> None:
        """Send a value in this connection's encoding."""
        encode = msgspec.msgpack.encode if self.binary else msgspec.json.encode
        await self.socket.send(encode(frame), text=not self.binary)

    async def frame(self) -> dict[str, Any]:
        """The next frame."""
        async with asyncio.timeout(PATIENCE):
            data = await self.socket.recv(decode=False)
        decode = msgspec.msgpack.decode if self.binary else msgspec.json.decode
        found: dict[str, Any] = decode(data)
        return found

    async def until(self, kind: str) -> dict[str, Any]:
        """The next frame of a type."""
        while True:
            frame = await self.frame()
            if frame["type"] == kind:
                return frame

    async def ask(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Send a numbered command and wait for its answer."""
        await self.send(frame)
        while True:
            answer = await self.frame()
            re = answer.get("re")
            if re == frame["id"] or (isinstance(re, list) and frame["id"] in re):
                return answer

    async def refused(self, frame: dict[str, Any]) -> str:
        """Send a command without a number that is refused; gives the code."""
        await self.send(frame)
        code: str = (await self.until("error"))["code"]
        return code

    async def end(self) -> tuple[list[dict[str, Any]], int | None]:
        """What still comes until the server closes, and the close code."""
        frames: list[dict[str, Any]] = []
        try:
            while True:
                frames.append(await self.frame())
        except ConnectionClosed:
            return frames, self.socket.close_code


@asynccontextmanager
async def raw(
    url: str, protocols: Sequence[str] | None = (JSON,), **more: Any
) -> AsyncGenerator[Raw]:
    """Connect; the frames begin with `hello`."""
    async with connect(
        f"{url}/ws",
        subprotocols=None if protocols is None else [Subprotocol(name) for name in protocols],
        proxy=None,
        compression=None,
        **more,
    ) as socket:
        yield Raw(socket)

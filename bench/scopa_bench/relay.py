"""A bare relay on `websockets`: moves a script's bytes between four, and knows no game.

`--by send` calls the library's `send` for each of the four; `--by frames` makes each frame itself
and hands it to the connection's transport, which is the least that the library allows.
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from .script import Script, read, start
from .table import SEATS

Send: TypeAlias = Callable[[ServerConnection, bytes, bool], Awaitable[None]]


async def _by_send(to: ServerConnection, data: bytes, text: bool) -> None:
    await to.send(data, text=text)


async def _by_frames(to: ServerConnection, data: bytes, text: bool) -> None:
    frame = Frame(Opcode.TEXT if text else Opcode.BINARY, data)
    to.transport.write(frame.serialize(mask=False))


WAYS: Final[dict[str, Send]] = {"send": _by_send, "frames": _by_frames}


class Relay:
    """The tables there are."""

    def __init__(self, script: Script, send: Send) -> None:
        self._script = script
        self._text = script.format == "json"
        self._send = send
        self._tables: dict[str, list[ServerConnection | None]] = {}
        self._at: dict[str, int] = {}

    async def serve(self, connection: ServerConnection) -> None:
        """Pass on what comes from one seat."""
        assert connection.request is not None
        asked = parse_qs(urlsplit(connection.request.path).query)
        table, seat = asked["table"][0], int(asked["seat"][0])
        self._at.setdefault(table, start(int(table), self._script))
        seats = self._tables.setdefault(table, [None] * SEATS)
        seats[seat] = connection
        try:
            while True:
                await connection.recv()
                await self._pass_on(table, seats)
        except ConnectionClosed:
            seats[seat] = None
            if not any(seats) and self._tables.get(table) is seats:
                # Whoever opens a table of that number begins anew.
                del self._tables[table], self._at[table]

    async def _pass_on(self, table: str, seats: list[ServerConnection | None]) -> None:
        at = self._at[table]
        self._at[table] = (at + 1) % len(self._script.steps)
        for to, data in zip(seats, self._script.steps[at].frames, strict=True):
            if to is not None:
                await self._send(to, data, self._text)


async def _main(relay: Relay) -> None:
    async with serve(relay.serve, "127.0.0.1", 0, compression=None, max_queue=8) as server:
        port = server.sockets[0].getsockname()[1]
        sys.stdout.write(f"port {port}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def _run(relay: Relay) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(_main(relay))
    else:
        uvloop.run(_main(relay))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--by", choices=WAYS, required=True)
    given = parser.parse_args()
    _run(Relay(read(given.script), WAYS[given.by]))

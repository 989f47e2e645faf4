"""A scripted person on a real connection, speaking the wire protocol and nothing else."""

import asyncio
import random
import ssl
from itertools import count
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK, Codec
from scopa_protocol.frames import Error, Hello, Joined, ServerFrame, Update
from scopa_protocol.views import View

PATIENCE = 60
"""Seconds that anything may take."""


class Player:
    """One connection, from the address `source`. Every command gets an id and is answered."""

    def __init__(
        self,
        url: str,
        *,
        codec: Codec = JSON,
        source: str | None = None,
        trusts: ssl.SSLContext | None = None,
    ) -> None:
        self.url = url if url.endswith("/ws") else f"{url}/ws"
        self.codec = codec
        self._source = None if source is None else (source, 0)
        self._trusts = trusts
        self.ids = count(1)
        self.frames: list[ServerFrame] = []
        self.raw: list[bytes] = []
        self.view: View | None = None
        self.token: str | None = None
        self._socket: ClientConnection | None = None

    @property
    def socket(self) -> ClientConnection:
        """The open connection."""
        assert self._socket is not None
        return self._socket

    async def __aenter__(self) -> Self:
        name = "scopa.v1.msgpack" if self.codec is MSGPACK else "scopa.v1.json"
        self._socket = await connect(
            self.url,
            subprotocols=[Subprotocol(name)],
            proxy=None,
            max_size=None,
            compression=None,
            local_addr=self._source,
            ssl=self._trusts,
        )
        hello = await self.receive()
        assert isinstance(hello, Hello)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.socket.close()

    async def receive(self) -> ServerFrame:
        """The next frame."""
        async with asyncio.timeout(PATIENCE):
            data = await self.socket.recv()
        raw = data.encode() if isinstance(data, str) else data
        self.raw.append(raw)
        frame = self.codec.decode_frame(raw)
        assert frame is not None
        self.frames.append(frame)
        if isinstance(frame, Joined | Update):
            self.view = frame.view
        return frame

    async def send(self, command: c.Command) -> int:
        """Send a command; gives its id."""
        number = next(self.ids)
        fields = {name: getattr(command, name) for name in command.__struct_fields__}
        numbered = type(command)(**{**fields, "id": number})
        await self.socket.send(self.codec.encode(numbered), text=not self.codec.binary)
        return number

    async def do(self, command: c.Command) -> ServerFrame:
        """Send a command and wait for its answer."""
        number = await self.send(command)
        while True:
            frame = await self.receive()
            re: Any = getattr(frame, "re", None)
            if re == number or (isinstance(re, list) and number in re):
                return frame

    async def host(self, name: str, **rules: object) -> Joined:
        """Open a room."""
        settings = {"pace_ms": 0}
        asked = {"variant": "scopone_scientifico", **rules}
        return self._in(await self.do(c.Create(name=name, rules=asked, settings=settings)))

    async def join(self, code: str, name: str, **more: Any) -> Joined:
        """Take a seat."""
        return self._in(await self.do(c.Join(room=code, name=name, **more)))

    async def resume(self, code: str, token: str) -> Joined:
        """Come back."""
        return self._in(await self.do(c.Resume(room=code, token=token)))

    def _in(self, frame: ServerFrame) -> Joined:
        assert isinstance(frame, Joined), frame
        self.token = frame.token or self.token
        return frame

    async def error(self, command: c.Command) -> str:
        """Send a command that is refused; gives the code."""
        frame = await self.do(command)
        assert isinstance(frame, Error), frame
        return frame.code

    def choice(self, chance: random.Random) -> c.Play:
        """Any legal play, when it is this seat's turn."""
        assert self.view is not None
        assert self.view.options is not None
        card = chance.choice(sorted(self.view.options))
        take = chance.choice(self.view.options[card] or [[]])
        return c.Play(deal=self.view.deal, turn=self.view.turn, card=card, take=take)

    def next_move(self, chance: random.Random) -> c.Command | None:
        """What this seat could do now to carry the match on; None: it is for others to move."""
        view = self.view
        assert view is not None
        assert view.you is not None
        if view.phase == "deal_over":
            return None if view.seats[view.you].ready else c.Ready(deal=view.deal)
        if view.phase != "playing":
            return None
        if view.first_card is not None:
            return c.FirstCard(deal=view.deal, keep=chance.random() < 0.5)
        if view.declarations and chance.random() < 0.8:
            chosen = chance.choice(view.declarations)
            return c.Declare(
                deal=view.deal,
                batch=view.batch,
                kind=chosen.kind,  # type: ignore[arg-type]
                matta=chosen.matta,
            )
        return self.choice(chance) if view.to_play == view.you else None

    async def play_on(self, chance: random.Random, *, until: int | None = None) -> View:
        """Play any legal card each turn, and be ready, until the match is over (or that turn)."""
        while True:
            view = self.view
            assert view is not None
            if view.phase == "match_over" or (until is not None and view.turn >= until):
                return view
            move = self.next_move(chance)
            if move is None:
                await self.receive()
            else:
                await self.do(move)

"""A table of two at a server that is killed, and what must be left of it."""

import random
from collections.abc import Collection
from typing import Any, Self

from msgspec.structs import replace

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK
from scopa_protocol.frames import Joined, Update
from scopa_protocol.views import View
from support.player import Player
from support.server_process import ServerProcess
from support.tables import token


class Table:
    """Two people at a server that is killed; `kinds` are the events after which it is."""

    def __init__(self, server: ServerProcess, kinds: Collection[str] | None) -> None:
        self.server = server
        self.kinds = kinds
        self.killed_after: list[str] = []
        self.people: dict[str, Player] = {}
        self.tokens: dict[str, str] = {}
        self.code = ""
        self.chance = random.Random(3)

    def __getitem__(self, name: str) -> Player:
        """Somebody, by name."""
        return self.people[name]

    def view(self, name: str = "Anna") -> View:
        """What somebody was shown last."""
        view = self.people[name].view
        assert view is not None
        return view

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for name in tuple(self.people):
            await self.goes(name)

    # Coming and going

    async def comes(self, name: str, command: c.Create | c.Join, kind: str = "seat_taken") -> None:
        """Somebody takes a seat."""
        self.tokens[name] = command.token or ""
        player = await self._connected(name)
        joined = await player.do(command)
        assert isinstance(joined, Joined), joined
        self.code = joined.room
        await self.all_see(joined.view.seq)
        await self.may_crash(kind, name, command)

    async def _connected(self, name: str) -> Player:
        codec = MSGPACK if name == "Bruno" else JSON
        self.people[name] = player = Player(self.server.url, codec=codec)
        return await player.__aenter__()

    async def goes(self, name: str) -> None:
        """Somebody's line is lost."""
        player = self.people.pop(name)
        player.socket.transport.abort()
        await player.socket.wait_closed()

    async def resumes(self, name: str) -> View:
        """Somebody comes back; what they are shown."""
        player = await self._connected(name)
        return (await player.resume(self.code, self.tokens[name])).view

    # Doing

    async def does(self, name: str, command: c.Command, kind: str) -> None:
        """Somebody does something; everybody sees it, and the server may be killed."""
        answer = await self[name].do(command)
        assert isinstance(answer, Update), answer
        if isinstance(command, c.Leave):
            await self.goes(name)
        await self.all_see(answer.seq)
        await self.may_crash(kind, name, command)

    async def plays(self, kind: str = "played") -> tuple[str, c.Play]:
        """Whoever is to play plays some card; who and what."""
        name = next(name for name in self.people if self.view(name).options)
        play = self[name].choice(self.chance)
        await self.does(name, play, kind)
        return name, play

    async def plays_until(self, phase: str, kind: str) -> None:
        """Cards and counts, until a phase has come; then the server may be killed."""
        while self.view().phase != phase:
            if self.view().phase == "playing":
                name, play = await self.plays("")
                continue
            for each in self.people:
                await self.does(each, c.Ready(deal=self.view().deal), "")
        await self.may_crash(kind, name, play)

    async def all_see(self, seq: int) -> None:
        """Wait until everybody has been shown that number."""
        for name, player in self.people.items():
            while self.view(name).seq < seq:
                await player.receive()

    # Dying

    async def may_crash(self, kind: str, name: str, command: c.Command) -> None:
        """Kill the server if this kind's turn has come, and look at what is left."""
        if not kind or (self.kinds is not None and kind not in self.kinds):
            return
        self.killed_after.append(kind)
        before = {who: plain(self.view(who)) for who in self.people}
        self.server.kill()
        for player in self.people.values():
            await player.socket.wait_closed()
        self.server.start()
        for who in before:
            assert plain(await self.resumes(who)) == before[who], kind
        if name in self.people:
            await self.sends_again(name, command)
        await self.all_see(max(self.view(who).seq for who in self.people))

    async def sends_again(self, name: str, command: c.Command) -> None:
        """The last command once more, as by a client that had no answer: nothing is doubled."""
        before = plain(self.view(name))
        if isinstance(command, c.Create | c.Join):
            await self.goes(name)
            await self._connected(name)
        answer = await self[name].do(command)
        assert isinstance(answer, Joined | Update), answer
        assert plain(answer.view) == before


def plain(view: View) -> View:
    """A view without what may differ after a restart: the log's id, the clock, who is online."""
    seats = [replace(seat, online=True) for seat in view.seats]
    return replace(view, log="", clock=None, seats=seats)


def create(**more: Any) -> c.Create:
    """A room for two, with all the talk there may be."""
    rules = {"variant": "scopa", "players": 2, "target": 15, "void_deal": "never"}
    settings = {"pace_ms": 0, "next_deal_seconds": 0, "watchers": "table"}
    return c.Create(name="Anna", token=token(0), rules=rules, settings=settings, **more)


def join(number: int = 1) -> c.Join:
    """Bruno takes the other seat."""
    return c.Join(room="", name="Bruno", seat=1, token=token(number))


async def opened(table: Table) -> None:
    """Two people at a table."""
    await table.comes("Anna", create(), "opened")
    await table.comes("Bruno", replace(join(), room=table.code))

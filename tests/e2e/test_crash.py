"""Killed with -9 after each kind of event: what was shown is there, and play goes on."""

import random
from collections.abc import Callable, Collection
from typing import Any, Self

from msgspec.structs import replace

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK
from scopa_protocol.frames import Joined, Update
from scopa_protocol.views import View
from scopa_server.journal import open_journal
from scopa_server.room.events import read_events
from support.player import Player
from support.server_process import HURRIED, Serve, ServerProcess
from support.tables import token

A_FEW = {"match_started", "played", "deal_counted"}


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
    rules = {"variant": "scopa", "players": 2, "target": 15}
    settings = {"pace_ms": 0, "next_deal_seconds": 0, "watchers": "table"}
    return c.Create(name="Anna", token=token(0), rules=rules, settings=settings, **more)


def join(number: int = 1) -> c.Join:
    """Bruno takes the other seat."""
    return c.Join(room="", name="Bruno", seat=1, token=token(number))


async def opened(table: Table) -> None:
    """Two people at a table."""
    await table.comes("Anna", create(), "opened")
    await table.comes("Bruno", replace(join(), room=table.code))


async def evening(table: Table) -> None:
    """Everything that happens at a table of two, in turn."""
    await opened(table)
    await table.does("Anna", c.Arrange(names=["Bruno", "Anna"]), "arranged")
    await table.does("Anna", c.Sit(seat=1), "")
    await table.does("Anna", c.Configure(settings={"talk": "always"}), "configured")
    await table.does("Bruno", c.Say(text="Ciao a tutti", key="1"), "said")
    host = "Bruno"
    await table.does("Anna", c.MakeHost(seat=table.view(host).you or 0, name=host), "host_changed")
    await table.does("Bruno", c.MakeHost(seat=table.view().you or 0, name="Anna"), "")
    seat = table.view("Bruno").you
    await table.does("Bruno", c.Leave(), "seat_left")
    await table.comes("Bruno", replace(join(2), room=table.code, seat=seat), "")
    await table.does("Anna", c.Start(), "match_started")
    await table.plays()
    await table.does("Bruno", c.Pause(), "paused")
    await table.does("Anna", c.Unpause(), "unpaused")
    while table.view().turn < 6:
        await table.plays("")
    await table.plays("dealt")
    assert table.view().batch == 2
    await table.plays_until("deal_over", "deal_counted")
    deal = table.view().deal
    await table.does("Anna", c.Ready(deal=deal), "readied")
    await table.does("Bruno", c.Ready(deal=deal), "dealt_next")
    assert table.view().deal == deal + 1
    await table.plays_until("match_over", "match_won")
    await table.does("Anna", c.Start(), "")
    await table.does("Anna", c.EndMatch(), "match_ended")


EVENING = [
    "opened",
    "seat_taken",
    "arranged",
    "configured",
    "said",
    "host_changed",
    "seat_left",
    "match_started",
    "played",
    "paused",
    "unpaused",
    "dealt",
    "deal_counted",
    "readied",
    "dealt_next",
    "match_won",
    "match_ended",
]


async def test_every_kind_of_event_outlives_the_server(serve: Serve) -> None:
    server = serve()
    async with Table(server, None) as table:
        await evening(table)
    assert table.killed_after == EVENING
    server.kill()
    kinds = await logged(server.store, table.code)
    assert kinds >= {
        *("opened", "seat_taken", "seat_left", "arranged", "host_changed", "configured"),
        *("match_started", "dealer_drawn", "shuffled", "dealt", "played", "leftovers"),
        *("deal_counted", "match_won", "match_ended", "readied", "paused", "unpaused", "said"),
    }


async def logged(store: str, code: str) -> set[str]:
    """The kinds of events in a room's log."""
    journal = await open_journal(store)
    commits = await journal.read(code)
    await journal.close()
    assert [commit.number for commit in commits] == list(range(1, len(commits) + 1))
    events = [event for commit in commits for event in read_events(commit.payload)]
    return {str(event.__struct_config__.tag) for event in events}


async def test_on_every_store(store: str, serve: Serve) -> None:
    if store.startswith("sqlite"):
        return
    async with Table(serve(store=store), A_FEW) as table:
        await evening(table)
    assert set(table.killed_after) == A_FEW


async def sees(table: Table, kind: str, condition: Callable[[View], bool]) -> None:
    """Anna hears of an event, and sees what came of it."""
    while not condition(table.view()):
        await table["Anna"].receive()
    told = [event for f in table["Anna"].frames if isinstance(f, Update) for event in f.events]
    assert kind in {str(event.__struct_config__.tag) for event in told}


async def test_absence_outlives_the_server(serve: Serve) -> None:
    server = serve(program=HURRIED)
    async with Table(server, {"away", "stand_in", "back"}) as table:
        await table.comes("Anna", create(), "")
        await table.comes("Bruno", replace(join(), room=table.code), "")
        await table.does("Anna", c.Start(), "")
        seat = table.view("Bruno").you or 0
        while table.view().to_play != table.view().you:
            await table.plays("")
        await table.goes("Bruno")
        await sees(table, "away", lambda view: view.seats[seat].away)
        await table.may_crash("away", "", c.Ping())
        await table.does("Anna", c.StandIn(seat=seat), "stand_in")
        assert table.view().seats[seat].stand_in
        await table.resumes("Bruno")
        await sees(table, "back", lambda view: not view.seats[seat].away)
        await table.may_crash("back", "", c.Ping())
        assert not table.view().seats[seat].stand_in
        await table.plays()
        await table.plays()
        assert table.killed_after == ["away", "stand_in", "back"]

"""Killed with -9 after each kind of event: what was shown is there, and play goes on."""

from collections.abc import Callable

from msgspec.structs import replace

from scopa_protocol import commands as c
from scopa_protocol.frames import Update
from scopa_protocol.views import View
from scopa_server.journal import open_journal
from scopa_server.room.events import read_events
from support.doomed import Table, create, join, opened
from support.server_process import HURRIED, Serve

A_FEW = {"match_started", "played", "deal_counted"}


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

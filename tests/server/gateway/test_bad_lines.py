"""Lines that drop, stall or fail, and what they cost the others."""

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from scopa_protocol import commands as c
from scopa_server.bounds import Bounds
from scopa_server.gateway import pipe
from support import raw as wire
from support.front import front, until
from support.house import House
from support.player import Player
from support.raw import Raw, raw
from support.seated import parted, seen, shown, table
from support.tables import token

RULES = {"variant": "scopone_scientifico"}
CREATE: dict[str, Any] = {"type": "create", "name": "Anna", "rules": RULES, "token": token(0)}
BOTH = pytest.mark.parametrize("protocol", [wire.JSON, wire.MSGPACK])


async def create(line: Raw, **more: Any) -> dict[str, Any]:
    """Open a room."""
    return await line.ask({**CREATE, "id": 1, **more})


async def test_a_lost_line_is_only_absence() -> None:
    async with front() as served:
        players = await table(served)
        anna, bruno = players
        assert bruno.view is not None
        assert bruno.token is not None
        bruno.socket.transport.abort()
        while shown(anna).seats[1].online:
            await anna.receive()
        async with Player(served.url) as again:
            joined = await again.resume(bruno.view.room, bruno.token)
            assert joined.view.hand == bruno.view.hand
            while not shown(anna).seats[1].online:
                await anna.receive()
        await parted(players)


async def test_who_stops_reading_costs_nobody_anything() -> None:
    async with front() as served:
        players = await table(served)
        assert players[0].view is not None
        room, lazy_token = players[0].view.room, players[1].token
        assert lazy_token is not None
        async with Player(served.url) as lazy:
            await lazy.resume(room, lazy_token)
            lazy.socket.transport.pause_reading()
            for number in range(400):
                key = f"{number}"
                await players[0].do(c.Configure(settings={"talk": "always"}))
                await players[0].do(c.Say(text="x" * 280, key=key))
            newest = players[0].view.seq
            lazy.socket.transport.resume_reading()
            assert (await seen(lazy, newest)).seq == newest
            # What waited was joined: fewer frames than there were commits.
            assert len(lazy.frames) < 400
            await parted([lazy, *players])


async def test_who_never_reads_again_is_cut() -> None:
    bounds = Bounds(
        unread_time=0.5,
        max_frames_per_second=100_000,
        max_changes_per_minute=100_000,
        max_moves_per_minute=100_000,
    )
    async with front(House(bounds=bounds)) as served:
        players = await table(served)
        assert players[0].view is not None
        room, lazy_token = players[0].view.room, players[1].token
        assert lazy_token is not None
        async with Player(served.url) as lazy:
            await lazy.resume(room, lazy_token)
            lazy.socket.transport.pause_reading()
            reading = [asyncio.create_task(_reads(player)) for player in players[1:]]
            with capture_logs() as logged:
                number = 0
                while not any(entry["event"] == "not_reading" for entry in logged):
                    number += 1
                    await players[0].do(c.Configure(settings={"pace_ms": number % 5000}))
                    assert number < 50_000
            assert served.counts('scopa_limits_met_total{limit="unread"}') == 1
            await until(lambda: served.counted(f"scopa_connections_open {len(players)}.0"))
            assert not any(task.done() for task in reading)
            for task in reading:
                task.cancel()
            await asyncio.wait(reading)
            await parted([lazy, *players])


async def _reads(player: Player) -> None:
    while True:
        await player.receive()


async def test_who_is_gone_waits_for_no_store() -> None:
    async with front() as served, raw(served.url) as anna:
        room = (await create(anna))["room"]
        served.house.journal.gate.clear()
        await anna.send({"type": "seat_bot", "id": 2, "seat": 1})
        await until(lambda: served.house.journal.waiting > 0)
        for _ in range(3):
            async with raw(served.url) as again:
                await again.send({"type": "resume", "id": 1, "room": room, "token": token(0)})
                again.socket.transport.abort()
        await until(lambda: served.counted("scopa_connections_open 1.0"))
        served.house.journal.gate.set()
        assert (await anna.until("update"))["re"] == [2]


async def test_a_fault_in_writing_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(self: pipe.Pipe, message: bytes, text: bool) -> bool:
        raise TypeError("not to be encoded")

    async with front() as served:
        monkeypatch.setattr(pipe.Pipe, "push", faulty)
        with capture_logs() as logged:
            async with raw(served.url) as line:
                assert (await line.end())[1] == 1011
        assert [entry["event"] for entry in logged] == ["writer_fault"]


async def test_outcomes_are_counted_as_they_were_answered() -> None:
    async with front() as served, raw(served.url) as line:
        await create(line)
        await line.refused({"type": "start"})
        await line.refused({"type": "fly"})
        await line.ask({"type": "seat_bot", "id": 5, "seat": 1})
        for counted in (
            'scopa_commands_total{outcome="ok",type="create"} 1.0',
            'scopa_commands_total{outcome="seats_empty",type="start"} 1.0',
            'scopa_commands_total{outcome="ok",type="seat_bot"} 1.0',
            'scopa_commands_total{outcome="bad_message",type="other"} 1.0',
        ):
            assert served.counted(counted), counted

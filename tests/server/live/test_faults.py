"""When something goes wrong in a room or its store: nobody is left alone at a dead table."""

import asyncio
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from scopa_protocol import commands as c
from scopa_protocol.frames import Error, Update
from scopa_server.journal.interface import Commit, Unresolved
from scopa_server.live import keeping
from scopa_server.live.audience import Audience
from scopa_server.room.refused import Refused
from support.house import Guest, House
from support.tables import token


def events(logged: Any) -> list[str]:
    """What was logged."""
    return [entry["event"] for entry in logged]


async def test_a_room_whose_task_fails_sends_everybody_to_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    host = await house.host()
    guest = await house.join(host.code, 1)

    def faulty(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    with capture_logs() as logged, monkeypatch.context() as patch:
        # Not in a step, which would be survived: in what every turn of the room does.
        patch.setattr("scopa_server.live.room.LiveRoom._next_at", faulty)
        await host.do(c.SeatBot(seat=2))
    assert "room_fault" in events(logged)
    for each in (host, guest):
        closing = each.closing
        assert closing is not None
        assert (closing.code, closing.bye.retry) == (1012, True)
    again = await house.resume(host.code, 0)
    assert again.view.seats[2].kind == "bot"
    await again.do(c.SeatBot(seat=3))
    assert again.view.seats[3].kind == "bot"


async def test_a_fault_in_one_command_is_only_that_command_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    host = await house.host()

    def faulty(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    with capture_logs() as logged, monkeypatch.context() as patch:
        patch.setattr("scopa_server.live.table.decide", faulty)
        assert await host.refused(c.SeatBot(id=1, seat=2)) == "internal_error"
    assert "room_fault" in events(logged)
    await host.do(c.SeatBot(seat=2))
    assert host.view.seats[2].kind == "bot"


async def test_an_append_of_unknown_outcome_ends_the_room_not_the_people(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    host = await house.host()

    async def unresolved(*_: object, **__: object) -> None:
        raise Unresolved("the journal was closed")

    with monkeypatch.context() as patch:
        patch.setattr(house.journal, "append", unresolved)
        await host.do(c.SeatBot(id=1, seat=2))
    assert host.closing is not None
    assert (host.closing.code, host.closing.bye.retry) == (1012, True)
    assert [f.code for f in host.frames if isinstance(f, Error)] == ["restarting"]
    again = await house.resume(host.code, 0)
    await again.do(c.SeatBot(seat=2))


async def test_what_is_due_but_can_not_be_done_is_not_tried_without_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    guests = await house.table()
    await guests[1].drop()
    tried: list[object] = []

    def nothing(room: object, actor: object, command: object, context: object) -> tuple[()]:
        tried.append(command)
        return ()

    monkeypatch.setattr("scopa_server.live.table.decide", nothing)
    await house.pass_time(20)
    assert 1 <= len(tried) <= 20


async def test_who_is_gone_before_getting_in_costs_the_store_nothing() -> None:
    house = House()
    host = await house.host()
    house.journal.gate.clear()
    await house.rooms.ask(host.visitor, c.SeatBot(seat=1))
    await house.quiet()
    gone = [Guest(house) for _ in range(50)]
    tasks = [
        asyncio.create_task(
            house.rooms.enter(guest.visitor, c.Resume(room=host.code, token=token(0)))
        )
        for guest in gone
    ]
    await house.quiet()
    for guest, task in zip(gone, tasks, strict=True):
        guest.visitor.gone = True
        task.cancel()
    reads = 0
    top = house.journal.top

    async def counted(room: str) -> tuple[int, str] | None:
        nonlocal reads
        reads += 1
        return await top(room)

    house.journal.top = counted  # type: ignore[method-assign]
    house.journal.gate.set()
    await house.quiet()
    assert reads == 0
    assert all(guest.frames == [] and guest.read() == [] for guest in gone)


async def test_commands_left_in_a_stopped_room_are_answered() -> None:
    house = House()
    host = await house.host()
    house.journal.gate.clear()
    for number in range(3):
        await house.rooms.ask(host.visitor, c.SeatBot(id=number + 1, seat=number + 1))
    await house.quiet()
    stopping = asyncio.create_task(house.rooms.stop())
    await house.quiet()
    house.journal.gate.set()
    await stopping
    host.read()
    assert [f.re for f in host.frames if isinstance(f, Update)] == [[1]]
    refused = [f for f in host.frames if isinstance(f, Error)]
    assert [(f.re, f.code) for f in refused] == [(2, "restarting"), (3, "restarting")]
    with pytest.raises(Refused, match="restarting"):
        await house.rooms.ask(host.visitor, c.SeatBot(seat=2))
    with pytest.raises(Refused, match="restarting"):
        await house.resume(host.code, 0)


async def test_a_room_that_waits_for_its_store_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keeping, "STOP_SECONDS", 0)
    house = House()
    host = await house.host()
    house.journal.gate.clear()
    await house.rooms.ask(host.visitor, c.SeatBot(seat=1))
    await house.quiet()
    with capture_logs() as logged:
        await house.rooms.close()
    assert "rooms_unfinished" in events(logged)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_room_s_log_lines_name_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[dict[str, Any]] = []
    show = Audience.show

    def note(self: Audience, *args: Any, **how: Any) -> None:
        found.append(structlog.contextvars.get_contextvars())
        show(self, *args, **how)

    house = House()
    monkeypatch.setattr(Audience, "show", note)
    with structlog.contextvars.bound_contextvars(connection="of who came first"):
        host = await house.host()
        await house.join(host.code, 1)
    assert found
    assert all(context == {"room": host.code} for context in found)


@pytest.mark.parametrize("spoilt", ["does not follow", "is no commit"])
async def test_a_commit_written_into_the_store_is_not_followed(spoilt: str) -> None:
    house = House()
    guests = await house.table()
    other = Guest(house)
    create = c.Create(name="Zita", rules={"variant": "scopa"}, token=token(9))
    await house.rooms.create(other.visitor, create)
    before = guests[0].view
    log = house.journal.logs[before.room]
    forged = Commit(
        number=len(log) + 1,
        id="forged",
        previous="nowhere" if spoilt == "does not follow" else log[-1].id,
        at=log[-1].at,
        payload=log[0].payload if spoilt == "does not follow" else b"\xff{}",
    )
    log.append(forged)
    with capture_logs():
        await guests[0].do(c.Pause())
        for guest in guests:
            # Nothing of it is shown, and nobody is left at a table that can't go on.
            assert guest.view.seq == before.seq
            assert guest.closing is not None
        with pytest.raises(Refused) as refused:
            await house.resume(before.room, 0)
    assert refused.value.code == "internal_error"
    # The others play on.
    assert await other.do(c.SeatBot(seat=1))
    assert other.view.seats[1].kind == "bot"

"""Who may stay without entering a room, and how long."""

import asyncio
from typing import Any, Final

import pytest

from scopa_protocol.codes import ErrorCode
from scopa_server.bounds import Bounds
from scopa_server.gateway import idling
from scopa_server.metrics import Limit
from scopa_server.room.refused import Refused
from scopa_server.room.tokens import room_code
from support.front import Front, front, until
from support.house import House
from support.raw import Raw, raw
from support.tables import token

SECONDS: Final = 100
CREATE: Final[dict[str, Any]] = {"type": "create", "name": "Anna", "rules": {"variant": "scopa"}}
ROOM: Final = room_code(token(0), 0)
LOOK: Final = {"type": "look", "room": ROOM}
WRONG: Final[dict[str, dict[str, Any]]] = {
    "look": {"type": "look", "room": "ABCDEFGH"},
    "join": {"type": "join", "room": ROOM, "name": "Bruno", "seat": 0},
    "resume": {"type": "resume", "room": ROOM, "token": token(5)},
    "watch": {"type": "watch", "room": ROOM, "name": "Ugo"},
    "create": {**CREATE, "rules": {"variant": "poker"}},
}


def house(**bounds: Any) -> House:
    """A server whose patience is a hundred seconds."""
    return House(bounds=Bounds(idle_time=SECONDS, **bounds))


async def hosted(line: Raw) -> None:
    """A room that nobody may watch, its host at seat 0."""
    await line.ask({**CREATE, "id": 1, "token": token(0), "settings": {"watchers": "none"}})


async def looks(line: Raw) -> None:
    """A look that is answered, and over."""
    await line.send(LOOK)
    await line.until("room")
    await over(line)


async def over(line: Raw) -> None:
    """Once what was sent before is followed to the end."""
    await line.ask({"type": "ping", "id": 9})


async def ended(line: Raw, served: Front) -> tuple[str, int | None]:
    """How the server says goodbye, and the close code."""
    frames, code = await line.end()
    assert served.counts(f'scopa_limits_met_total{{limit="{Limit.IDLE}"}}') == 1
    return frames[-1]["code"], code


@pytest.mark.parametrize("kind", WRONG)
async def test_what_is_refused_gives_no_more_time(kind: str) -> None:
    async with front(house()) as served, raw(served.url) as anna, raw(served.url) as line:
        await hosted(anna)
        for _ in range(2):
            served.house.time.advance(0.45 * SECONDS)
            await line.refused(WRONG[kind])
            await over(line)
        served.house.time.advance(0.2 * SECONDS)
        assert await ended(line, served) == ("idle", 1008)


async def test_who_looks_around_is_not_idle() -> None:
    async with front(house()) as served, raw(served.url) as anna, raw(served.url) as line:
        await hosted(anna)
        for _ in range(idling.LONGEST):
            served.house.time.advance(0.9 * SECONDS)
            await looks(line)
        await line.send({**WRONG["join"], "seat": 1})
        await line.until("joined")
        served.house.time.advance(100 * SECONDS)
        assert (await line.ask({"type": "ping", "id": 1}))["type"] == "pong"


async def test_nobody_looks_around_for_ever() -> None:
    async with front(house()) as served, raw(served.url) as anna, raw(served.url) as line:
        await hosted(anna)
        for _ in range(2 * idling.LONGEST - 1):
            served.house.time.advance(0.5 * SECONDS)
            await looks(line)
        served.house.time.advance(0.6 * SECONDS)
        assert await ended(line, served) == ("idle", 1008)


@pytest.mark.parametrize("waits", [{"type": "resume", "room": ROOM, "token": token(0)}, LOOK])
async def test_who_waits_for_the_store_is_not_idle(waits: dict[str, Any]) -> None:
    async with front(house()) as served, raw(served.url) as anna, raw(served.url) as line:
        await hosted(anna)
        served.house.journal.down = True
        for _ in range(10):
            served.house.time.advance(0.9 * SECONDS)
            assert await line.refused(waits) == "storage_unavailable"
            await over(line)
        served.house.journal.down = False
        answer = await line.ask({**waits, "id": 2})
        assert answer["type"] in {"joined", "room"}


async def test_a_visit_under_way_is_seen_through() -> None:
    async with front(house()) as served, raw(served.url) as line, raw(served.url) as other:
        served.house.journal.gate.clear()
        await line.send(CREATE)
        await until(lambda: served.house.journal.waiting > 0)
        served.house.time.advance(0.9 * SECONDS)
        await other.refused(WRONG["look"])
        served.house.time.advance(0.2 * SECONDS)
        assert (await ended(other, served))[0] == "idle"
        served.house.journal.gate.set()
        await line.until("joined")
        assert (await line.ask({"type": "ping", "id": 1}))["type"] == "pong"


async def test_a_visit_that_is_refused_late_was_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    async with front(house()) as served, raw(served.url) as line:
        asked, answered = asyncio.Event(), asyncio.Event()

        async def look(*_: object) -> None:
            asked.set()
            await answered.wait()
            raise Refused(ErrorCode.UNKNOWN_ROOM, "There is no such room.")

        monkeypatch.setattr(served.house.rooms, "look", look)
        await line.send(LOOK)
        await asked.wait()
        served.house.time.advance(2 * SECONDS)
        answered.set()
        assert (await line.until("error"))["code"] == "unknown_room"
        served.house.time.advance(0.1 * SECONDS)
        assert await ended(line, served) == ("idle", 1008)

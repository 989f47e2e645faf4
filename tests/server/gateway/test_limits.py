"""Every limit: what whoever comes up against it hears, and where it is counted."""

from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any, Final, TypeAlias

import msgspec
import pytest

from scopa_protocol import commands as c
from scopa_server.bounds import SPARABLE, Bounds
from scopa_server.gateway import connection
from scopa_server.metrics import Limit, Refusal
from scopa_server.options import OPTIONS
from scopa_server.room.tokens import room_code
from support.bare import TEXT, bare, frame
from support.front import Front, front, until
from support.house import House
from support.player import Player
from support.raw import Raw, raw
from support.tables import token

Scene: TypeAlias = Callable[[Front], Awaitable[str]]
CREATE: Final[dict[str, Any]] = {"type": "create", "name": "Anna", "rules": {"variant": "scopa"}}
NOWHERE: Final = {"type": "look", "room": "ABCDEFGH"}


async def ended(line: Raw) -> str:
    """The last error's code and the close code."""
    frames, code = await line.end()
    errors = [frame["code"] for frame in frames if frame["type"] in {"error", "bye"}]
    return f"{errors[-1]} {code}"


async def opened(line: Raw, **more: Any) -> str:
    """The code of a new room."""
    return str((await line.ask({**CREATE, "id": 1, **more}))["room"])


async def one_connection_more(served: Front) -> str:
    async with raw(served.url), raw(served.url) as extra:
        return await ended(extra)


async def one_of_a_seat_more(served: Front) -> str:
    async with Player(served.url) as first, Player(served.url) as second:
        room = (await first.host("Anna")).room
        assert first.token is not None
        await second.resume(room, first.token)
        await first.socket.wait_closed()
        return f"{first.socket.close_code}"


async def one_room_more(served: Front) -> str:
    async with raw(served.url) as first, raw(served.url) as second:
        await opened(first)
        return await second.refused(CREATE)


async def one_watcher_more(served: Front) -> str:
    async with raw(served.url) as anna, raw(served.url) as ugo, raw(served.url) as eva:
        room = await opened(anna, settings={"watchers": "table"})
        await ugo.ask({"type": "watch", "id": 1, "room": room, "name": "Ugo"})
        return await eva.refused({"type": "watch", "room": room, "name": "Eva"})


async def one_failure_more(served: Front) -> str:
    async with raw(served.url) as line:
        assert await line.refused(NOWHERE) == "unknown_room"
        return await line.refused(NOWHERE)


async def too_much_at_once(served: Front) -> str:
    async with raw(served.url) as line:
        limits = (await line.until("hello"))["limits"]
        ping = '{"type":"ping"}'
        await line.socket.send(ping.ljust(limits["frame_bytes"]))
        await line.until("pong")
        await line.socket.send(ping.ljust(limits["frame_bytes"] + 1))
        return str((await line.end())[1])


async def too_fast(served: Front) -> str:
    async with raw(served.url) as line:
        for _ in range(2 + connection.FLOOD):
            await line.send({"type": "ping"})
        frames, code = await line.end()
    kinds = [frame["type"] for frame in frames]
    assert kinds == ["hello", "pong", "pong", *["error"] * connection.FLOOD, "bye"]
    refused = frames[3]
    assert refused["details"]["retry_ms"] > 0
    return f"{refused['code']} {code}"


async def too_talkative(served: Front) -> str:
    async with raw(served.url) as line:
        await opened(line)
        say = {"type": "say", "id": 2, "text": "ciao"}
        assert (await line.ask(say))["type"] == "update"
        return str((await line.ask({**say, "id": 3}))["code"])


async def one_change_more(served: Front) -> str:
    async with raw(served.url) as line:
        await opened(line)
        for number, pace in enumerate((1, 2), start=2):
            settings = {"pace_ms": pace}
            answer = await line.ask({"type": "configure", "id": number, "settings": settings})
        return str(answer["code"])


async def ten_moves_more(served: Front) -> str:
    async with raw(served.url) as line:
        await opened(line)
        for number in range(2, 13):
            settings = {"pace_ms": number}
            answer = await line.ask({"type": "configure", "id": number, "settings": settings})
        return str(answer["code"])


async def too_long_a_name(served: Front) -> str:
    async with raw(served.url) as line:
        assert (await line.until("hello"))["limits"]["name_length"] == 3
        return await line.refused(CREATE)


async def silent_from_the_start(served: Front) -> str:
    async with bare(served.port, opened=False) as line:
        line.writer.write(b"GET /ws HTTP/1.1\r\nHost:")
        assert await line.end() == b""
        return "cut"


async def idle(served: Front) -> str:
    async with raw(served.url) as line:
        await line.ask({"type": "ping", "id": 1})
        served.house.time.advance(100)
        return await ended(line)


async def unread(served: Front) -> str:
    look = msgspec.json.encode({"type": "look", "room": room_code(token(0), 0)})
    async with bare(served.port) as line:
        line.writer.write(frame(TEXT, msgspec.json.encode({**CREATE, "token": token(0)})))
        line.writer.write(frame(TEXT, look) * 2_000)
        await until(lambda: served.counted("scopa_connections_open 0.0"))
        return "cut"


def met(limit: Limit) -> str:
    """The metric of a limit that was met."""
    return f'scopa_limits_met_total{{limit="{limit}"}}'


def refused(reason: Refusal) -> str:
    """The metric of a connection that was refused."""
    return f'scopa_handshakes_refused_total{{reason="{reason}"}}'


TABLE: Final[dict[str, tuple[float, Scene, str, str]]] = {
    "max_connections": (
        1, one_connection_more, "too_many_connections 1013", refused(Refusal.FULL),
    ),
    "max_connections_per_address": (
        1, one_connection_more, "too_many_connections 1013", refused(Refusal.ADDRESS_FULL),
    ),
    "max_connections_per_seat": (1, one_of_a_seat_more, "4004", met(Limit.SEAT_CONNECTIONS)),
    "max_rooms": (1, one_room_more, "server_full", met(Limit.ROOMS)),
    "max_rooms_per_address": (1, one_room_more, "server_full", met(Limit.ADDRESS_ROOMS)),
    "max_new_rooms_per_hour": (1, one_room_more, "too_fast", met(Limit.NEW_ROOMS)),
    "max_watchers_per_room": (1, one_watcher_more, "room_full", met(Limit.WATCHERS)),
    "max_failures_per_address": (1, one_failure_more, "too_fast", met(Limit.ADDRESS_FAILURES)),
    "max_failures_per_room": (1, one_failure_more, "too_fast", met(Limit.ROOM_FAILURES)),
    "max_frame_bytes": (4096, too_much_at_once, "1009", met(Limit.FRAME_BYTES)),
    "max_frames_per_second": (1, too_fast, "too_fast 1008", met(Limit.FRAMES)),
    "max_talk_per_minute": (1, too_talkative, "too_fast", met(Limit.TALK)),
    "max_changes_per_minute": (1, one_change_more, "too_fast", met(Limit.CHANGES)),
    "max_moves_per_minute": (1, ten_moves_more, "too_fast", met(Limit.MOVES)),
    "max_changes_per_day": (1, one_change_more, "too_fast", met(Limit.ADDRESS_CHANGES)),
    "max_changes_per_room": (1, one_change_more, "room_full", met(Limit.ROOM_CHANGES)),
    "max_name_length": (3, too_long_a_name, "bad_name", met(Limit.NAME)),
    "handshake_time": (0.1, silent_from_the_start, "cut", refused(Refusal.SLOW)),
    "idle_time": (100, idle, "idle 1008", met(Limit.IDLE)),
    "unread_time": (0.1, unread, "cut", met(Limit.UNREAD)),
}  # fmt: skip
"""For each limit its value, what meets it, what is heard of that, and the metric."""
LIMITS: Final = [field for field in fields(Bounds) if field.name != "spared"]


@pytest.mark.parametrize("name", [field.name for field in LIMITS])
async def test_a_limit_is_met_heard_of_and_counted(name: str) -> None:
    value, scene, heard, metric = TABLE[name]
    bounds: dict[str, Any] = {"max_frames_per_second": 100_000, name: value}
    async with front(House(bounds=Bounds(**bounds))) as served:
        assert not served.counts(metric)
        assert await scene(served) == heard
        await until(lambda: served.counts(metric) > 0)


def test_every_limit_is_an_option_and_starts_as_it_says() -> None:
    options = {option.field: option for option in OPTIONS}
    assert set(TABLE) == {field.name for field in LIMITS}
    assert set(TABLE) >= SPARABLE
    for field in LIMITS:
        option = options[field.name]
        assert option.default is not None
        assert option.read(option.default) == field.default


def test_every_metric_of_a_limit_has_a_limit() -> None:
    shown = {metric for *_, metric in TABLE.values()}
    # Pings and pieces of messages share the limit of frames: test_lines.py. How many passcodes wait
    # follows from how long one takes: test_failures.py
    others = {met(Limit.CONTROL_FRAMES), met(Limit.PASSCODES)}
    assert {met(limit) for limit in Limit} - shown == others


async def test_who_plays_at_a_persons_pace_meets_no_limit() -> None:
    async with front(House(bounds=Bounds())) as served, raw(served.url) as line:
        await opened(line)
        for number in range(2, 300):
            assert (await line.ask({"type": "say", "id": number, "text": "x"}))["type"] == "update"
            served.house.time.advance(2)
        served.house.time.advance(1000)
        assert (await line.ask({"type": "ping", "id": 999}))["type"] == "pong"
        assert not any(served.counts(met(limit)) for limit in Limit)


async def test_bad_messages_count_as_frames() -> None:
    bounds = Bounds(max_frames_per_second=5)
    async with front(House(bounds=bounds)) as served, raw(served.url) as line:
        codes = [await line.refused({"type": "fly"}) for _ in range(11)]
        assert codes == [*["bad_message"] * 10, "too_fast"]


async def test_an_exact_repeat_is_no_more_talk() -> None:
    bounds = Bounds(max_talk_per_minute=1)
    async with front(House(bounds=bounds)) as served, Player(served.url) as anna:
        await anna.host("Anna")
        await anna.do(c.Configure(settings={"talk": "always"}))
        await anna.do(c.Say(text="ciao", key="k"))
        assert await anna.error(c.Say(text="basta")) == "too_fast"
        assert (await anna.do(c.Say(text="ciao", key="k"))).__class__.__name__ == "Update"
        served.house.time.advance(61)
        assert (await anna.do(c.Say(text="ciao", key="k"))).__class__.__name__ == "Update"
        assert (await anna.do(c.Say(text="ancora"))).__class__.__name__ == "Update"
        assert await anna.error(c.Say(text="e ancora")) == "too_fast"


async def test_a_second_connection_says_no_more() -> None:
    bounds = Bounds(max_talk_per_minute=1)
    async with (
        front(House(bounds=bounds)) as served,
        Player(served.url) as anna,
        Player(served.url) as again,
    ):
        room = (await anna.host("Anna")).room
        assert anna.token is not None
        await again.resume(room, anna.token)
        await anna.do(c.Say(text="ciao"))
        assert await again.error(c.Say(text="ciao")) == "too_fast"

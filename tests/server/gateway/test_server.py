"""The endpoint: who gets in, how many, and how everybody is let go."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, InvalidStatus

from scopa_server.bounds import Bounds
from scopa_server.gateway import server
from scopa_server.live import keeping
from support.front import Front, front, until
from support.house import House
from support.player import Player
from support.raw import JSON, MSGPACK, raw

CREATE = {"type": "create", "id": 1, "name": "Anna", "rules": {"variant": "scopa"}}
HANDSHAKE = [
    "GET /ws?from=test HTTP/1.1",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
]


async def test_hello_comes_first() -> None:
    async with front() as served, raw(served.url) as line:
        hello = await line.frame()
    assert hello["type"] == "hello"
    assert hello["version"] == 1
    assert hello["limits"]["frame_bytes"] == 16384
    assert hello["limits"]["waiting"] == 8
    assert hello["key_needed"] is False
    assert "scopa" in hello["variants"]


@pytest.mark.parametrize("protocol", [JSON, MSGPACK])
async def test_every_frame_sent_is_counted_with_its_bytes(protocol: str) -> None:
    async with front() as served, raw(served.url, [protocol]) as line:
        sizes = list[int]()
        take = line.socket.recv

        async def received(decode: bool | None = None) -> str | bytes:
            frame = await take(decode=decode)
            sizes.append(len(frame))
            return frame

        line.socket.recv = received  # type: ignore[method-assign, assignment]
        await line.ask(CREATE)
        for number in range(2, 6):
            await line.ask({"type": "say", "id": number, "text": "x" * 40 * number})
        await line.ask({"type": "ping", "id": 6})
        assert served.counts("scopa_frames_sent_total") == len(sizes)
        assert served.counts("scopa_sent_bytes_total") == sum(sizes)


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["scopa.v1.json"], "scopa.v1.json"),
        (["scopa.v1.msgpack"], "scopa.v1.msgpack"),
        (["scopa.v9.json", "scopa.v1.msgpack", "scopa.v1.json"], "scopa.v1.msgpack"),
        (None, None),
    ],
)
async def test_a_subprotocol_is_chosen(offered: list[str] | None, chosen: str | None) -> None:
    async with front() as served, raw(served.url, offered) as line:
        assert line.socket.subprotocol == chosen
        assert (await line.frame())["type"] == "hello"
        assert (await line.ask({"type": "ping", "id": 1}))["type"] == "pong"


async def test_only_foreign_subprotocols_are_refused() -> None:
    async with front() as served:
        with pytest.raises(InvalidStatus) as refused:
            async with raw(served.url, ["chat", "scopa.v2.json"]):
                pytest.fail("it was let in")
        assert refused.value.response.status_code == 400
        assert served.counted('scopa_handshakes_refused_total{reason="subprotocol"} 1.0')


@pytest.mark.parametrize("path", ["", "/", "/wss", "/ws/", "/ws/ABCDEFGH", "/metrics"])
async def test_there_is_one_path(path: str) -> None:
    async with front() as served:
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws://127.0.0.1:{served.port}{path}", proxy=None)
    assert refused.value.response.status_code == 404
    assert b"scopa join INVITE" in refused.value.response.body


async def asked(port: int, *headers: str) -> bytes:
    """The first line that answers a handshake with these headers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("\r\n".join([*HANDSHAKE, *headers, "", ""]).encode())
    try:
        return await asyncio.wait_for(reader.readline(), 10)
    finally:
        writer.close()


ALLOWED = "https://scopa.example"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (["Host: x"], b"101"),
        (["Host: x", f"Origin: {ALLOWED}"], b"101"),
        (["Host: x", "Origin: https://evil.example"], b"403"),
        (["Host: x", "Origin: null"], b"403"),
        (["Host: x", f"Origin: {ALLOWED}", "Origin: https://evil.example"], b"403"),
    ],
)
async def test_only_pages_of_allowed_origins_connect(headers: list[str], status: bytes) -> None:
    async with front(origins=(ALLOWED,)) as served:
        assert (await asked(served.port, *headers)).split()[1] == status


async def test_odd_handshakes_leave_no_traces(caplog: pytest.LogCaptureFixture) -> None:
    odd = [["Host: a", "Host: b"], ["Host: x", "Origin: a", "Origin: b"], ["Host: \x7f"], []]
    with capture_logs() as logged:
        async with front() as served:
            for headers in odd:
                await asked(served.port, *headers)
    assert [entry for entry in logged if entry["log_level"] == "error"] == []
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def invite(url: str) -> str:
    """What the invite of a new host begins with."""
    async with raw(url) as line:
        answer = await line.ask(CREATE)
    return str(answer["invite"]).rpartition("/")[0]


async def test_an_invite_says_how_its_host_reached_the_server() -> None:
    async with front() as served:
        assert await invite(served.url) == served.url
        assert await invite(f"ws://localhost:{served.port}") == f"ws://localhost:{served.port}"


async def test_the_public_url_comes_before_all() -> None:
    async with front(public_url="wss://scopa.example/table") as served:
        assert await invite(served.url) == "wss://scopa.example/table"


@pytest.mark.parametrize(
    "hosts",
    [
        ["evil.example/x"],
        ["user@evil.example"],
        ["evil.example?"],
        ["<b>"],
        ["a b"],
        ["[::1"],
        ["a.example", "b.example"],
        [],
        ["a" * 300],
        ["::1"],
    ],
)
def test_a_hostile_host_is_not_repeated(hosts: list[str]) -> None:
    headers = Headers([("Host", host) for host in hosts])
    socket: Any = SimpleNamespace(
        local_address=("192.0.2.7", 8765), request=SimpleNamespace(headers=headers)
    )
    nobody: Any = SimpleNamespace(bounds=Bounds(), metrics=None)
    gateway = server.Gateway(server.Endpoint(host="192.0.2.7", port=0), nobody)
    assert gateway._base(socket) == "ws://192.0.2.7:8765"


@asynccontextmanager
async def filled(count: int, bounds: Bounds) -> AsyncGenerator[tuple[Front, list[Player]]]:
    """A gateway with so many connected."""
    async with front(House(bounds=bounds)) as served:
        players = [await Player(served.url).__aenter__() for _ in range(count)]
        yield served, players
        for player in players:
            await player.socket.close()


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        (Bounds(max_connections=2), "full"),
        (Bounds(max_connections_per_address=2), "address_full"),
    ],
)
async def test_one_connection_too_many_is_told_to_try_later(bounds: Bounds, reason: str) -> None:
    async with filled(2, bounds) as (served, players):
        async with raw(served.url) as line:
            with suppress(ConnectionClosed):
                await line.send(CREATE)
            frames, code = await line.end()
        assert [frame["type"] for frame in frames] == ["hello", "error", "bye"]
        assert frames[1]["code"] == frames[2]["code"] == "too_many_connections"
        assert (frames[2]["retry"], code) == (True, 1013)
        assert served.counted(f'scopa_handshakes_refused_total{{reason="{reason}"}} 1.0')
        assert len(served.house.journal.logs) == 0
        await players.pop().socket.close()
        async with raw(served.url) as line:
            assert (await line.ask(CREATE))["type"] == "joined"


async def test_lines_that_say_nothing_are_counted_too() -> None:
    async with front(House(bounds=Bounds(max_connections_per_address=1))) as served:
        lines = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(11)]
        extra, writer = await asyncio.open_connection("127.0.0.1", served.port)
        assert await asyncio.wait_for(extra.read(), 10) == b""
        writer.close()
        for _, line in lines:
            line.close()
            await line.wait_closed()
        async with raw(served.url) as late:
            assert (await late.frame())["type"] == "hello"


async def stopped(stack: AsyncExitStack) -> None:
    """The gateway's end, in good time."""
    async with asyncio.timeout(10):
        await stack.aclose()


async def test_everybody_hears_that_the_server_restarts() -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(front())
        async with raw(served.url) as anna, raw(served.url, [MSGPACK]) as bruno:
            await anna.ask(CREATE)
            stopping = asyncio.create_task(stopped(stack))
            for line in (anna, bruno):
                frames, code = await line.end()
                bye = frames[-1]
                assert (bye["type"], bye["code"], bye["retry"]) == ("bye", "restarting", True)
                assert code == 1012
            await stopping
        assert not asyncio.all_tasks() - {asyncio.current_task()}


async def test_what_is_being_stored_is_answered_before_the_end() -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(front())
        async with raw(served.url) as anna:
            await anna.ask(CREATE)
            served.house.journal.gate.clear()
            await anna.send({"type": "seat_bot", "id": 2, "seat": 1})
            await until(lambda: served.house.journal.waiting > 0)
            stopping = asyncio.create_task(stopped(stack))
            await until(lambda: served.gateway.stopping)
            served.house.journal.gate.set()
            frames, code = await anna.end()
            assert frames[-2]["re"] == [2]
            assert (frames[-1]["code"], code) == ("restarting", 1012)
            await stopping


async def test_nobody_is_let_in_while_it_stops() -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(front())
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        async with raw(served.url) as anna:
            await anna.ask(CREATE)
            served.house.journal.gate.clear()
            await anna.send({"type": "seat_bot", "id": 2, "seat": 1})
            await until(lambda: served.house.journal.waiting > 0)
            stopping = asyncio.create_task(stopped(stack))
            await until(lambda: served.gateway.stopping)
            writer.write(("\r\n".join([*HANDSHAKE, "Host: x", "", ""])).encode())
            assert (await asyncio.wait_for(reader.readline(), 10)).split()[1] == b"503"
            writer.close()
            served.house.journal.gate.set()
            await anna.end()
            await stopping


async def test_who_hangs_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "CLOSE_SECONDS", -1)
    monkeypatch.setattr(keeping, "STOP_SECONDS", 0)
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(front())
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        async with raw(served.url) as anna, raw(served.url) as bruno:
            code = (await anna.ask(CREATE))["room"]
            served.house.journal.gate.clear()
            # The table waits for a store that never answers, and Bruno for the table.
            await anna.send({"type": "seat_bot", "id": 2, "seat": 1})
            await bruno.send({"type": "join", "id": 1, "room": code, "name": "Bruno"})
            await until(lambda: served.house.journal.waiting > 0)
            with capture_logs() as logged:
                await stopped_with(stack, served)
            assert {entry["event"] for entry in logged} == {"rooms_unfinished", "connections_cut"}
        writer.close()
        assert not asyncio.all_tasks() - {asyncio.current_task()}


async def stopped_with(stack: AsyncExitStack, served: Front) -> None:
    """The end while the store hangs: the gateway's own part of it."""
    gate = served.house.journal.gate
    gate.set = lambda: None  # type: ignore[method-assign]
    await stopped(stack)


async def test_the_library_is_told_of_every_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, Any] = {}

    def listening(*args: Any, **settings: Any) -> Any:
        told.update(settings)
        return serve(*args, **settings)

    monkeypatch.setattr(server, "serve", listening)
    async with front():
        pass
    assert (told["ping_interval"], told["ping_timeout"]) == (20, 20)
    assert (told["max_size"], told["compression"]) == (16384, None)
    assert told["max_queue"] <= 16

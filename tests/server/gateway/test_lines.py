"""Lines that never become connections, or that bring what is no command."""

import asyncio
import socket
import ssl
import struct
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.protocol import Event

from scopa_server.bounds import Bounds
from scopa_server.gateway import lines
from scopa_server.loop import fastest
from scopa_server.metrics import Limit, Refusal
from scopa_server.tls import Certificate
from support.bare import BINARY, CONTINUATION, HANDSHAKE, PING, TEXT, bare, frame
from support.front import Front, front, until
from support.house import House
from support.raw import raw

TLS = Path(__file__).parents[2] / "data" / "tls"
UPGRADE = "\r\n".join([*HANDSHAKE, "Host: x"])


def certificate() -> ssl.SSLContext:
    """How TLS is spoken with the tests' own certificate."""
    return Certificate(TLS / "cert.pem", TLS / "key.pem").context


async def answered(served: Front, request: str) -> int:
    """The status that answers a request; 0 if it isn't answered."""
    async with bare(served.port, opened=False) as line:
        line.writer.write(request.encode())
        return await line.status()


@pytest.mark.parametrize(
    ("request_line", "more", "status"),
    [
        ("POST /ws HTTP/1.1", [], 405),
        ("PUT /ws HTTP/1.1", [], 405),
        ("HEAD /ws HTTP/1.1", [], 405),
        ("OPTIONS * HTTP/1.1", [], 404),
        ("GET /ws HTTP/1.0", [], 505),
        ("GET /ws HTTP/1.1", ["X: " + "a" * 9000], 431),
        ("GET /ws HTTP/1.1", [f"X{n}: a" for n in range(200)], 431),
        (f"GET /ws?{'a' * 9000} HTTP/1.1", [], 414),
        # Bodies, and what is no request at all, get no answer.
        ("GET /ws HTTP/1.1", ["Content-Length: 5", "", "hello"], 0),
        ("POST /ws HTTP/1.1", ["Content-Length: 5", "", "hello"], 0),
        ("POST /ws HTTP/1.1", ["Transfer-Encoding: chunked", "", "0", ""], 0),
        ("GET /ws HTTP/1.1", ["", "hello"], 0),
        ("GET / HTTP/1.1", ["", "GET /ws HTTP/1.1"], 0),
        ("GET  HTTP/1.1", [], 404),
        ("\x16\x03\x01\x02", [], 0),
        ("GET /ws HTTP/1.1", ["no header"], 0),
    ],
)
async def test_odd_requests_are_refused_and_counted(
    request_line: str, more: list[str], status: int, caplog: pytest.LogCaptureFixture
) -> None:
    headers = UPGRADE.split("\r\n", 1)[1]
    async with front() as served:
        request = "\r\n".join([request_line, headers, *more, "", ""])
        assert await answered(served, request) == status
        counted = [f'scopa_handshakes_refused_total{{reason="{reason}"}}' for reason in Refusal]
        await until(lambda: sum(map(served.counts, counted)) == 1)
        async with raw(served.url) as line:
            assert (await line.frame())["type"] == "hello"
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_who_only_looks_whether_somebody_listens_is_not_counted() -> None:
    async with front() as served:
        async with bare(served.port, opened=False) as line:
            line.writer.write_eof()
            await line.end()
        async with raw(served.url) as other:
            await other.frame()
        assert served.counts("scopa_handshakes_refused_total") == 0


async def test_a_handshake_by_drops_is_cut() -> None:
    async with front(House(bounds=Bounds(handshake_time=0.2))) as served:
        async with bare(served.port, opened=False) as line:
            ended = asyncio.create_task(line.end())
            for byte in (UPGRADE + "\r\n" + "X: a\r\n" * 10_000).encode():
                line.writer.write(bytes([byte]))
                await asyncio.sleep(0.001)
                if ended.done():
                    break
            assert await ended == b""
        await until(lambda: served.counted('scopa_handshakes_refused_total{reason="slow"} 1.0'))


async def test_nothing_is_compressed() -> None:
    async with front() as served:
        async with bare(served.port, "Sec-WebSocket-Extensions: permessage-deflate") as line:
            # Nobody agreed to it, so a compressed frame is none.
            line.writer.write(frame(TEXT, b"\xaa" * 100, compressed=True))
            assert await line.close_code() == 1002
        async with raw(served.url) as other:
            assert other.socket.response is not None
            assert "Sec-WebSocket-Extensions" not in other.socket.response.headers


@pytest.mark.parametrize("opcode", [PING, 0xA])
async def test_pings_without_end_close_the_connection(opcode: int) -> None:
    async with front(House(bounds=Bounds(max_frames_per_second=10))) as served:
        async with bare(served.port) as line:
            line.writer.write(frame(opcode) * 1000)
            assert await line.close_code() == 1008
        assert served.counts(f'scopa_limits_met_total{{limit="{Limit.CONTROL_FRAMES}"}}') == 1


@pytest.mark.parametrize("begun", [b"", frame(TEXT)[:3]])
@pytest.mark.parametrize("opcode", [TEXT, BINARY, PING])
async def test_a_flood_in_one_read_is_not_parsed_to_its_end(
    opcode: int, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = list[object]()

    def process(self: ServerConnection, event: Event) -> None:
        parsed.append(event)
        library(self, event)

    library = ServerConnection.process_event
    house = House(bounds=Bounds(max_frames_per_second=100))
    async with front(house) as served, bare(served.port) as line:
        (flooding,) = served.gateway._lines._open
        monkeypatch.setattr(ServerConnection, "process_event", process)
        flooding.data_received(begun or frame(opcode))
        flooding.data_received(frame(TEXT)[len(begun) :] + frame(opcode) * 42_000)
        assert len(parsed) < 2000
        assert await line.close_code() == 1008
        limit = Limit.CONTROL_FRAMES if opcode == PING else Limit.FRAMES
        assert served.counts(f'scopa_limits_met_total{{limit="{limit}"}}') >= 1


@pytest.mark.parametrize("opcode", [TEXT, PING])
async def test_nor_is_one_that_comes_with_the_request(
    opcode: int, caplog: pytest.LogCaptureFixture
) -> None:
    request = "\r\n".join([*HANDSHAKE, "Host: x", "", ""]).encode()
    async with front(House(bounds=Bounds(max_frames_per_second=100))) as served:
        async with bare(served.port, opened=False) as line:
            await until(lambda: len(served.gateway._lines) == 1)
            (flooding,) = served.gateway._lines._open
            flooding.data_received(request + frame(opcode) * 42_000)
            assert len(flooding.recv_messages.frames) < 2000
            assert len(await line.end()) < 2000
        refused = f'scopa_handshakes_refused_total{{reason="{Refusal.MALFORMED}"}}'
        await until(lambda: served.counts(refused) == 1)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


@pytest.mark.parametrize("rate", [1, 100])
async def test_some_dozens_of_commands_may_come_in_one_read(rate: int) -> None:
    house = House(bounds=Bounds(max_frames_per_second=rate))
    async with front(house) as served, raw(served.url) as line:
        await line.until("hello")
        sent = [f'{{"type":"ping","id":{number}}}'.encode() for number in range(1, 101)]
        line.socket.transport.write(b"".join(frame(TEXT, text) for text in sent))
        assert [(await line.frame())["re"] for _ in sent] == list(range(1, 101))
        assert served.counts("scopa_closes_total") == 0


async def test_pings_now_and_then_are_answered() -> None:
    bounds = Bounds(max_frames_per_second=10)
    async with front(House(bounds=bounds)) as served, raw(served.url) as line:
        for _ in range(15):
            await (await line.socket.ping())
        assert (await line.ask({"type": "ping", "id": 1}))["type"] == "pong"


@pytest.mark.parametrize("opcode", [TEXT, BINARY])
async def test_a_message_in_endless_pieces_closes_the_connection(opcode: int) -> None:
    bounds = Bounds(max_frames_per_second=100_000)
    async with front(House(bounds=bounds)) as served:
        async with bare(served.port) as line:
            line.writer.write(frame(opcode, fin=False))
            line.writer.write(frame(CONTINUATION, fin=False) * (lines.FRAGMENTS - 2))
            await line.reader.readuntil(b"hello")
            line.writer.write(frame(CONTINUATION, fin=False))
            assert await line.close_code() == 1008
        assert served.counts(f'scopa_limits_met_total{{limit="{Limit.CONTROL_FRAMES}"}}') == 1


async def test_a_message_may_come_in_some_pieces() -> None:
    async with front() as served, raw(served.url) as line:
        for number in range(1, 10):
            text = f'{{"type":"ping","id":{number}}}'
            await line.socket.send(iter([*text, *" " * 30]))
            assert (await line.until("pong"))["re"] == number


async def test_pieces_together_are_no_bigger_than_a_frame() -> None:
    async with front() as served, bare(served.port) as line:
        line.writer.write(frame(TEXT, b" " * 16_000, fin=False))
        line.writer.write(frame(CONTINUATION, b" " * 16_000))
        assert await line.close_code() == 1009


@pytest.mark.parametrize("tls", [False, True])
async def test_who_never_even_shakes_hands_is_counted(tls: bool) -> None:
    context = certificate() if tls else None
    house = House(bounds=Bounds(max_connections_per_address=1, handshake_time=1000))
    most = 1 + lines.SPARE_EACH
    async with front(house, tls=context) as served, AsyncExitStack() as held:
        many = [await held.enter_async_context(bare(served.port, opened=False)) for _ in range(20)]
        ended = [asyncio.create_task(line.end()) for line in many]
        await until(lambda: sum(task.done() for task in ended) == len(many) - most)
        assert served.counted(
            f'scopa_handshakes_refused_total{{reason="address_full"}} {len(many) - most}.0'
        )
        for task in ended:
            task.cancel()


async def test_a_handshake_of_tls_that_takes_too_long_is_cut() -> None:
    async with front(House(bounds=Bounds(handshake_time=1)), tls=certificate()) as served:
        async with bare(served.port, opened=False) as line:
            line.writer.write(b"\x16\x03\x01\x02")
            assert await line.end() == b""
        trusting = ssl.create_default_context(cafile=TLS / "cert.pem")
        async with raw(f"wss://localhost:{served.port}", ssl=trusting) as other:
            assert (await other.frame())["type"] == "hello"


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, fastest()])
def test_lines_that_are_gone_before_they_shake_hands_leave_nothing(
    loop: Callable[[], asyncio.AbstractEventLoop], caplog: pytest.LogCaptureFixture
) -> None:
    async def storm() -> None:
        async with front(tls=certificate()) as served:
            before = asyncio.all_tasks()
            for number in range(90):
                with socket.create_connection(("127.0.0.1", served.port)) as line:
                    line.send([b"", b"\x16\x03\x01\x02", b"no TLS"][number % 3])
                    # Not closed in order, but cut.
                    line.setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", number % 2, 0)
                    )
                if number % 5 == 0:
                    await asyncio.sleep(0)
            trusting = ssl.create_default_context(cafile=TLS / "cert.pem")
            async with raw(f"wss://localhost:{served.port}", ssl=trusting) as other:
                assert (await other.frame())["type"] == "hello"
            await until(lambda: asyncio.all_tasks() <= before and not len(served.gateway._lines))
            assert served.counts("scopa_handshakes_refused_total") == 0

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(storm())
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_an_open_line_holds_little_and_nothing_of_its_request() -> None:
    cookie = {"Cookie": "secret"}
    async with front() as served, raw(served.url, additional_headers=cookie) as line:
        assert (await line.frame())["type"] == "hello"
        assert (await line.ask({"type": "ping", "id": 1}))["type"] == "pong"
        (held,) = served.gateway._lines._open
        assert held.request is not None
        assert held.response is not None
        assert (held.request.headers, held.response.headers) == (Headers(), Headers())
        # With more than thirty, Python no longer shares the keys: 1.3 KiB more a connection.
        assert len(vars(held)) <= 30

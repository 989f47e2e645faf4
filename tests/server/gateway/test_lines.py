"""Lines that never become connections, or that bring what is no command."""

import asyncio

import pytest

from scopa_server.bounds import Bounds
from scopa_server.gateway import lines
from scopa_server.metrics import Limit, Refusal
from support.bare import BINARY, CONTINUATION, HANDSHAKE, PING, TEXT, bare, frame
from support.front import Front, front, until
from support.house import House
from support.raw import raw

UPGRADE = "\r\n".join([*HANDSHAKE, "Host: x"])


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

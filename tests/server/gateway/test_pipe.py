"""What is pushed down a pipe, as a real client reads it."""

import asyncio
import logging
import random
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN

from scopa_server.gateway.pipe import Pipe, ends_whole
from support.piped import joined

SIZES = [0, 1, 125, 126, 127, 3000, 65535, 65536, 100_000]


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("compression", [None, "deflate"])
async def test_every_size_arrives_whole_and_in_order(text: bool, compression: str | None) -> None:
    async with joined(compression=compression) as (pipe, client):
        for size in SIZES:
            message = b"x" * size
            assert pipe.push(message, text=text) == size
            assert await client.recv() == (message.decode() if text else message)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("end", [0, 1, 60])
@pytest.mark.parametrize("kind", [Opcode.TEXT, Opcode.BINARY])
async def test_a_frame_is_written_as_the_library_would(
    kind: Opcode, size: int, end: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with joined(compression=None) as (pipe, client):
        written = list[bytes]()
        monkeypatch.setattr(pipe.transport, "write", written.append)
        end = min(end, size)
        message = b"x" * (size - end)
        assert pipe.push(message, text=kind is Opcode.TEXT, end=b"x" * end) == size
        pipe.flush()
        monkeypatch.undo()
        assert b"".join(written) == Frame(kind, b"x" * size).serialize(mask=False)
        pipe.push(b"last", text=True)
        assert await client.recv() == "last"


async def test_a_compressed_line_is_sent_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with joined(compression="deflate") as (pipe, client):
        written = list[bytes]()
        monkeypatch.setattr(pipe.transport, "write", written.append)
        assert pipe.push(b"x" * 3000, text=True) == 3000
        pipe.flush()
        monkeypatch.undo()
        assert written[0][0] == 0x80 | 0x40 | Opcode.TEXT
        assert len(b"".join(written)) < 3000
        pipe.transport.write(b"".join(written))
        assert await client.recv() == "x" * 3000


async def test_nothing_is_pushed_down_a_line_that_is_cut() -> None:
    async with joined(compression=None) as (pipe, _):
        pipe.transport.abort()
        assert pipe.state is OPEN
        assert pipe.push(b"x", text=True) is None


async def test_what_a_debugged_line_is_sent_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "debugged")
    async with joined(compression=None, logger=logging.getLogger("debugged")) as (pipe, client):
        assert pipe.push(b"be", text=True, end=b"gun") == len("begun")
        assert await client.recv() == "begun"
    assert "> TEXT 'begun'" in caplog.text


async def test_what_is_pushed_stays_in_order_with_what_is_sent() -> None:
    async with joined(compression=None) as (pipe, client):
        pipe.push(b"1", text=True)
        await pipe.send("2")
        pipe.push(b"3", text=True)
        assert [await client.recv() for _ in range(3)] == ["1", "2", "3"]


async def test_what_is_pushed_comes_before_a_close() -> None:
    async with joined(compression=None) as (pipe, client):
        pipe.push(b"last", text=True)
        await pipe.close(4001, "over")
        assert await client.recv() == "last"
        await client.wait_closed()
        assert client.close_code == 4001


async def test_what_is_pushed_comes_before_the_answer_to_a_close() -> None:
    async with joined(compression=None) as (pipe, client):
        closing = asyncio.create_task(client.close())
        while pipe.protocol.state is OPEN:
            pipe.push(b"on the way", text=True)
            await asyncio.sleep(0)
        await closing
        assert client.close_code == 1000


async def test_a_closed_pipe_takes_it_and_sends_nothing() -> None:
    async with joined(compression=None) as (pipe, client):
        await pipe.close(4001, "over")
        assert pipe.push(b"late", text=True) is None
        await client.wait_closed()
        assert client.close_code == 4001
    assert pipe.push(b"later", text=True) is None


async def test_who_does_not_read_makes_it_stuck_and_reading_frees_it() -> None:
    async with joined(compression=None) as (pipe, client):
        heard = asyncio.Queue[str]()
        pipe.stuck = lambda: heard.put_nowait("stuck")
        pipe.freed = lambda: heard.put_nowait("freed")
        client.transport.pause_reading()
        pushed = 0
        while heard.empty():
            pipe.push(b"x" * 3000, text=True)
            pushed += 1
            await asyncio.sleep(0)
        client.transport.resume_reading()
        for _ in range(pushed):
            await client.recv()
        assert [await heard.get(), await heard.get()] == ["stuck", "freed"]


def taking(pipe: Pipe) -> list[bytes]:
    """What a pipe has taken at once from now on: all that it may."""
    taken = list[bytes]()

    def take(message: bytes, text: bool) -> bool:
        taken.append(message)
        return True

    pipe.take = take
    return taken


def frames(chance: random.Random) -> tuple[list[str | bytes], bytes]:
    """Messages, and the frames that a client might send them in, pings and pieces among them."""
    messages, wire = list[str | bytes](), b""
    for number in range(30):
        size = chance.choice([0, 1, 100, 125 - len("00:"), 126, 3000, 70_000])
        message = f"{number:02}:".encode() + b"x" * size
        kind = chance.choice([Opcode.TEXT, Opcode.BINARY])
        messages.append(message.decode() if kind is Opcode.TEXT else message)
        if chance.random() < 0.2:
            wire += Frame(kind, message[:2], fin=False).serialize(mask=True)
            wire += Frame(Opcode.PING, b"").serialize(mask=True)
            kind, message = Opcode.CONT, message[2:]
        wire += Frame(kind, message).serialize(mask=True)
    return messages, wire


def cuts(wire: bytes, chance: random.Random, whole: bool) -> list[bytes]:
    """Bytes as they may come: a frame at a time, for a while, or in pieces of any size."""
    pieces = list[bytes]()
    while wire:
        size = 1 + chance.randrange(chance.choice([3, 200, 5000]))
        if whole and len(pieces) < 10:
            size = next(n for n in range(1, len(wire) + 1) if ends_whole(wire[:n]) or n > 4000)
        pieces.append(wire[:size])
        wire = wire[size:]
    return pieces


class Copied(bytes):
    """Bytes that count what is copied of them."""

    counted = 0

    def __getitem__(self, key: Any) -> Any:
        """A part is counted as the whole is."""
        part = super().__getitem__(key)
        if isinstance(part, int):
            return part
        Copied.counted += len(part)
        return Copied(part)


def test_what_comes_together_is_not_copied_for_each_frame() -> None:
    one = Frame(Opcode.TEXT, b"").serialize(mask=True)
    assert ends_whole(Copied(one * 1000))
    assert not ends_whole(Copied(one * 1000 + one[:3]))
    assert Copied.counted < 1000 * len(one)


@pytest.mark.parametrize("seed", range(20))
async def test_what_comes_is_taken_or_read_once_and_in_order(seed: int) -> None:
    chance, got, whole = random.Random(seed), list[str | bytes](), asyncio.Event()
    messages, wire = frames(chance)
    async with joined(compression=None, max_size=None, max_queue=None) as (pipe, _):

        def keep(message: str | bytes) -> None:
            got.append(message)
            if len(got) == len(messages):
                whole.set()

        def take(message: bytes, text: bool) -> bool:
            if chance.random() < 0.3:
                return False
            keep(message.decode() if text else message)
            return True

        async def read() -> None:
            while True:
                keep(await pipe.recv())

        reading = asyncio.create_task(read())
        pieces = cuts(wire, chance, whole=seed % 2 == 0)
        # A client may begin before anybody takes what it sends.
        begins = chance.randrange(8) if seed % 4 < 2 else 0
        for number, piece in enumerate(pieces):
            if number == begins:
                pipe.take = take
            pipe.data_received(piece)
            if chance.random() < 0.7:
                await asyncio.sleep(0)
        await whole.wait()
        reading.cancel()
        assert got == messages


async def test_a_frame_that_comes_alone_is_taken_as_it_was_sent() -> None:
    async with joined(compression=None) as (pipe, client):
        taken = asyncio.Queue[tuple[bytes, bool]]()

        def take(message: bytes, text: bool) -> bool:
            taken.put_nowait((message, text))
            return True

        pipe.take = take
        for size in (0, 1, 125, 126, 3000):
            await client.send("x" * size)
            assert await taken.get() == (b"x" * size, True)
            await client.send(b"y" * size)
            assert await taken.get() == (b"y" * size, False)


@pytest.mark.parametrize("cut", [0, 1, -1])
@pytest.mark.parametrize(
    ("wire", "code"),
    [
        (Frame(Opcode.TEXT, b"{", fin=False).serialize(mask=True), 1002),
        (Frame(Opcode.TEXT, b"x" * 200).serialize(mask=True), 1009),
        (Frame(Opcode.TEXT, b"x").serialize(mask=False), 1002),
        (b"\xc1\x80\0\0\0\0", 1002),
        (b"\x81\xff" + b"\1" * 12, 1009),
    ],
    ids=["unfinished", "long", "unmasked", "reserved", "endless"],
)
async def test_what_breaks_the_protocol_is_left_to_the_library(
    wire: bytes, code: int, cut: int
) -> None:
    async with joined(compression=None, max_size=100) as (pipe, client):
        taken = taking(pipe)
        for piece in (b"", wire[:cut], wire[cut:]):
            pipe.data_received(piece)
        pipe.data_received(Frame(Opcode.TEXT, b"late").serialize(mask=True))
        await client.wait_closed()
        assert (taken, client.close_code) == ([], code)


async def test_no_message_is_taken_among_the_pieces_of_another() -> None:
    async with joined(compression=None) as (pipe, client):
        taken = taking(pipe)
        reading = asyncio.create_task(pipe.recv())
        await asyncio.sleep(0)
        pipe.data_received(Frame(Opcode.TEXT, b"{", fin=False).serialize(mask=True))
        await asyncio.sleep(0)
        pipe.data_received(Frame(Opcode.TEXT, b"late").serialize(mask=True))
        assert taken == []
        await client.wait_closed()
        assert client.close_code == 1002
        await asyncio.gather(reading, return_exceptions=True)


async def test_none_is_taken_before_what_came_first_is_read() -> None:
    async with joined(compression=None) as (pipe, _):
        taken = list[bytes]()

        def take(message: bytes, text: bool) -> bool:
            if message.startswith(b"no"):
                return False
            taken.append(message)
            return True

        def come(message: bytes) -> None:
            pipe.data_received(Frame(Opcode.TEXT, message).serialize(mask=True))

        pipe.take = take
        for message in (b"1", b"2", b"no", b"3"):
            come(message)
        assert taken == [b"1", b"2"]
        assert [await pipe.recv(), await pipe.recv()] == ["no", "3"]
        come(b"4")
        pipe.data_received(Frame(Opcode.PING, b"").serialize(mask=True))
        come(b"5")
        assert taken == [b"1", b"2", b"4", b"5"]


async def test_none_is_taken_once_a_close_was_sent() -> None:
    async with joined(compression=None) as (pipe, client):
        taken = taking(pipe)
        one = Frame(Opcode.TEXT, b"1").serialize(mask=True)
        pipe.data_received(one)
        pipe.protocol.send_close(4001)
        pipe.send_data()
        pipe.data_received(one)
        assert taken == [b"1"]
        await client.wait_closed()


INNER = bytes([0x81, 0x81, 0, 0, 0, 0]) + b"!"
OUTER = bytes([0x81, 0x80 | (1 + len(INNER)), 0, 0, 0, 0]) + b"x"
"""The begin of a frame whose rest looks like one."""
REQUEST = (
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


def takes_nothing(message: bytes, text: bool) -> bool:
    raise AssertionError("that was no message")


async def test_the_rest_of_an_early_frame_is_no_frame() -> None:
    async with joined(compression=None) as (pipe, _):
        pipe.data_received(OUTER)
        pipe.take = takes_nothing
        pipe.data_received(INNER)
        assert await pipe.recv(decode=False) == b"x" + INNER


async def test_what_comes_behind_a_handshake_is_left_to_the_library() -> None:
    read = asyncio.get_running_loop().create_future()

    async def meet(pipe: ServerConnection) -> None:
        assert isinstance(pipe, Pipe)
        pipe.take = takes_nothing
        read.set_result(await pipe.recv(decode=False))

    async with serve(meet, "127.0.0.1", 0, create_connection=Pipe, compression=None) as server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST + OUTER)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(INNER)
        async with asyncio.timeout(20):
            assert await read == b"x" + INNER
        writer.close()

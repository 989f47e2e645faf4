"""What comes over a connection, in pieces, late, broken off or senseless."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import hiredis
import pytest

from scopa_server.journal.link import Broken, Refusal
from scopa_server.journal.redis import RedisLink, link_to
from scopa_server.journal.wire import MORE, Wire

Serve = Callable[[asyncio.StreamWriter], Awaitable[None]]
GREETING = b"+OK\r\n" * 2
"""The answers to what redis-py says of itself."""


class Somebody:
    """Who listens in the store's place: greets, hears a question, and then does as told."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._ended: list[asyncio.Task[None]] = []
        self.greeted = 0

    @asynccontextmanager
    async def linked(self) -> AsyncIterator[RedisLink]:
        """A link to it."""
        async with await asyncio.start_server(self._accept, "127.0.0.1", 0) as server:
            link = link_to(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0")
            await link.open()
            try:
                yield link
            finally:
                await link.drop()
                await asyncio.wait_for(asyncio.gather(*self._ended), 30)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._ended.append(task)
        self.greeted += 1
        try:
            writer.write(GREETING)
            await reader.readuntil(b"PING\r\n")
            await self._serve(writer)
            await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def answered(serve: Serve) -> AsyncIterator[RedisLink]:
    """A link to somebody who was asked already."""
    async with Somebody(serve).linked() as link:
        await link.send([("PING",)])
        yield link


async def test_answers_may_come_in_pieces() -> None:
    async def byte_by_byte(writer: asyncio.StreamWriter) -> None:
        for byte in b"*3\r\n$2\r\n\r\n\r\n$-1\r\n:-7\r\n-MOVED 7 :1\r\n+OK\r\n":
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)

    async with answered(byte_by_byte) as link:
        assert await link.receive(1) == [[b"\r\n", None, -7]]
        moved, okay = await link.receive(2)
        assert isinstance(moved, Refusal)
        assert (moved.code, moved.slot, okay) == ("MOVED", 7, b"OK")


async def test_what_came_before_the_end_is_kept() -> None:
    async def break_off(writer: asyncio.StreamWriter) -> None:
        writer.write(b":1\r\n:2\r\n:")
        writer.write_eof()

    async with answered(break_off) as link:
        with pytest.raises(Broken, match="connection failed") as caught:
            await link.receive(3)
        assert caught.value.answers == [1, 2]
        with pytest.raises(Broken):
            await link.send([("PING",)])
        with pytest.raises(Broken):
            await link.listen(30)


async def test_what_came_in_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fall_silent(writer: asyncio.StreamWriter) -> None:
        writer.write(b":1\r\n")

    async with answered(fall_silent) as link:
        assert await link.listen(30) == 1
        assert await link.listen(0.001) is None
        monkeypatch.setattr("scopa_server.journal.redis._ANSWER_SECONDS", 0.001)
        with pytest.raises(Broken, match="no answer in time"):
            await link.receive(1)


class Line(asyncio.Transport):
    """A transport that the test speaks for."""

    def __init__(self) -> None:
        super().__init__()
        self._protocol: asyncio.BaseProtocol = asyncio.Protocol()

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol


async def test_what_keeps_coming_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    timers: list[Callable[[], None]] = []

    def call_later(_: float, call: Callable[..., None], *words: object) -> asyncio.Handle:
        timers.append(partial(call, *words))
        return asyncio.Handle(call, (), loop)

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(loop, "call_later", call_later)
    wire = Wire(Line(), hiredis.Reader(notEnoughData=MORE))
    taking = asyncio.create_task(wire.take(2, 5.0))
    await asyncio.sleep(0)
    for piece in (b"$6\r\nhal", b"ves\r\n", b":"):
        wire.data_received(piece)
        timers.pop()()
        await asyncio.sleep(0)
        assert not taking.done()
    timers.pop()()
    assert await taking == [b"halves"]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        (b":1\r\n-LOADING Redis is loading the dataset in memory\r\n:3\r\n", 3),
        (b":1\r\nHTTP/1.1 400 Bad Request\r\n", 2),
    ],
    ids=["a store that is loading", "nonsense"],
)
async def test_what_is_no_answer_ends_the_connection(said: bytes, asked: int) -> None:
    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(said)

    async with answered(say) as link:
        with pytest.raises(Broken) as caught:
            await link.receive(asked)
        assert caught.value.answers == [1]


async def test_what_nobody_asked_for_makes_a_connection_unfit() -> None:
    async def answer_twice(writer: asyncio.StreamWriter) -> None:
        writer.write(b":1\r\n:2\r\n")

    somebody = Somebody(answer_twice)
    async with somebody.linked() as link:
        for number in (1, 2):
            await link.open()
            await link.send([("PING",)])
            assert await link.receive(1) == [1]
            assert somebody.greeted == number


async def test_a_store_that_takes_nothing_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        raise AssertionError("nothing is to be answered")

    async with Somebody(answer).linked() as link:
        monkeypatch.setattr("scopa_server.journal.redis._ANSWER_SECONDS", 0)
        with pytest.raises(Broken, match="takes nothing"):
            await link.send([("SET", "much", b"x" * (1 << 26))])

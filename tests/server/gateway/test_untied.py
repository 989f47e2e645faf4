"""However a line ends, nothing of it is left for the garbage collector."""

import asyncio
import gc
import random
from collections.abc import Awaitable, Callable, Iterator

import pytest

from scopa_server.gateway.connection import Connection
from scopa_server.gateway.handover import Movable
from scopa_server.gateway.writer import Writer
from scopa_server.live.outbox import Outbox
from scopa_server.live.visitor import Visitor
from scopa_server.loop import fastest
from support.bare import CLOSE, TEXT, bare, frame
from support.front import Front, front, until
from support.seated import parted, shown, table

OURS = (Connection, Movable, Outbox, Visitor, Writer)
PROTOCOL = "Sec-WebSocket-Protocol: scopa.v1.json"


@pytest.fixture(autouse=True)
def uncollected() -> Iterator[None]:
    """Nothing is collected but what nobody holds any more."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def left() -> list[object]:
    """What there is of connections."""
    return [each for each in gc.get_objects() if issubclass(type(each), OURS)]


async def cut(served: Front) -> None:
    """The line is lost."""
    async with bare(served.port, PROTOCOL):
        pass


async def closed(served: Front) -> None:
    """The client says goodbye."""
    async with bare(served.port, PROTOCOL) as line:
        line.writer.write(frame(CLOSE, b"\x03\xe8"))
        assert await line.close_code() == 1000


async def broken(served: Front) -> None:
    """The client brings what is no text."""
    async with bare(served.port, PROTOCOL) as line:
        line.writer.write(frame(TEXT, b"\xff"))
        await line.end()


async def turned_away(served: Front) -> None:
    """The client asks for something else."""
    async with bare(served.port, opened=False) as line:
        line.writer.write(b"GET /ws HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await line.status() == 426


async def unsaid(served: Front) -> None:
    """Nothing is ever asked."""
    async with bare(served.port, opened=False):
        pass


async def played(served: Front) -> None:
    """People have played at a table."""
    players = await table(served)
    mover = next(each for each in players if shown(each).options)
    await mover.do(mover.choice(random.Random(1)))
    await parted(players)


ENDS: list[Callable[[Front], Awaitable[None]]] = [cut, closed, broken, turned_away, unsaid, played]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("loop", [asyncio.new_event_loop, fastest()])
def test_nothing_of_a_line_is_left_to_collect(
    end: Callable[[Front], Awaitable[None]], loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    before = len(left())

    async def nothing_is_left() -> None:
        async with front() as served:
            await end(served)
            await until(lambda: len(left()) <= before)

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(nothing_is_left())

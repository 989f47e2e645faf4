"""One worker offers a connection to another: whatever becomes of that, its client is answered."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from structlog.testing import capture_logs

from scopa_server.gateway.handover import Handover
from scopa_server.gateway.neighbour import Go, Offer, Ready, Refused, Stay, Taken
from scopa_server.gateway.neighbours import PATIENCE as ANSWERS_WITHIN
from scopa_server.metrics import Handed
from support.front import until
from support.next_door import NextDoor, Stranger, next_door
from support.player import Player
from support.raw import Raw, raw

ANYBODY = Handover(
    id=bytes(16),
    subprotocol=None,
    address="192.0.2.1",
    invite_base="ws://x",
    received=b"",
    idle=9,
    stays=9,
)


def open_files() -> int:
    """How many this process has."""
    return len(list(Path("/proc/self/fd").iterdir()))


@asynccontextmanager
async def asked() -> AsyncGenerator[tuple[NextDoor, Stranger, Raw, int]]:
    """Somebody wants to join at another worker, which is the test itself and was just asked."""
    async with next_door(met=False) as pair:
        code = await pair.room()
        with pair.stranger() as stranger:
            assert isinstance(await stranger.hear(), Ready)
            stranger.say(Ready())
            await until(lambda: pair.met[0].all[0].ready)
            async with raw(pair.one.url) as line:
                await line.until("hello")
                await line.send({"type": "join", "id": 1, "room": code, "name": "Ugo"})
                yield pair, stranger, line, await stranger.offered()


async def is_served_here(pair: NextDoor, line: Raw, outcome: Handed) -> None:
    """Check that the command is answered here, once, and so is the next."""
    assert (await line.frame())["type"] == "joined"
    assert (await line.ask({"type": "ping", "id": 2}))["type"] == "pong"
    assert pair.handed(outcome) == 1
    assert pair.connections() == (1, 0)


async def test_a_worker_that_never_answers_is_asked_no_more() -> None:
    async with asked() as (pair, stranger, line, number):
        pair.one.house.time.advance(ANSWERS_WITHIN)
        await is_served_here(pair, line, Handed.SLOW)
        assert await stranger.hear() == Stay(number)
        code = await pair.room()
        async with Player(pair.one.url) as player:
            await player.join(code, "Ugo")
            assert pair.handed(Handed.SLOW) == 2
        # Its answer comes after all: it is back.
        stranger.say(Taken(number))
        await until(lambda: not pair.met[0].all[0].late)
        async with raw(pair.one.url) as other:
            await other.send({"type": "look", "id": 1, "room": code})
            stranger.say(Refused(await stranger.offered(), "of a later release"))
            assert (await other.until("room"))["re"] == 1
    assert pair.handed(Handed.BUSY) == 1


async def test_a_worker_that_dies_before_it_is_given_anything_took_nothing() -> None:
    async with asked() as (pair, stranger, line, _):
        stranger.end.close()
        await is_served_here(pair, line, Handed.AWAY)
        assert pair.met[0].all == ()


async def test_a_worker_that_dies_with_a_connection_cuts_it() -> None:
    async with asked() as (pair, stranger, line, number):
        stranger.say(Taken(number))
        assert await stranger.hear() == Go(number)
        # The file was closed when it came, so nobody has the line any more.
        assert await line.end() == ([], 1006)
        assert pair.handed(Handed.DONE) == 1
        await until(lambda: pair.connections() == (0, 0))
        assert pair.one.counts("scopa_closes_total") == 0


async def test_a_worker_that_talks_nonsense_is_not_listened_to() -> None:
    async with asked() as (pair, stranger, line, _):
        stranger.end.send(b"nonsense")
        await is_served_here(pair, line, Handed.AWAY)
        assert pair.met[0].all == ()


async def test_who_is_told_to_go_meanwhile_stays() -> None:
    """The server stops while another worker is asked: its answer comes too late."""
    async with asked() as (pair, stranger, line, number):
        for connection in pair.one.gateway._connections:
            connection.stop()
        stranger.say(Taken(number))
        assert await stranger.hear() == Stay(number)
        frames, close = await line.end()
        assert [frame["type"] for frame in frames] == ["bye"]
        assert (frames[0]["code"], close) == ("restarting", 1012)
        # Nor is it followed here: nobody would hear of the seat.
        assert len(pair.one.house.rooms) == 0


async def test_whose_line_ends_meanwhile_goes_nowhere() -> None:
    async with asked() as (pair, stranger, line, number):
        (connection,) = pair.one.gateway._connections
        connection.cut()
        assert await stranger.hear() == Stay(number)
        await line.socket.wait_closed()
        await until(lambda: pair.connections() == (0, 0))


async def test_what_is_written_meanwhile_arrives_first() -> None:
    async with asked() as (pair, stranger, line, number):
        (connection,) = pair.one.gateway._connections
        await connection._socket.ping()
        connection._socket.push(b'{"type":"first"}', text=True)
        stranger.say(Taken(number))
        last = await stranger.hear()
        assert last in (Go(number), Stay(number))
        assert (await line.frame())["type"] == "first"


async def test_one_that_offers_and_dies_leaves_nothing() -> None:
    async with next_door(met=False) as pair:
        files = open_files()
        with pair.stranger() as stranger:
            assert isinstance(await stranger.hear(), Ready)
            for number in range(1, 6):
                ours, theirs = socket.socketpair()
                with ours, theirs:
                    stranger.say(Offer(number, ANYBODY), ours.fileno())
                assert await stranger.hear() == Taken(number)
            assert pair.one.gateway._arrivals.places.total() == 5
            stranger.say(Stay(3))
            await until(lambda: pair.one.gateway._arrivals.places.total() == 4)
        await until(lambda: not pair.one.gateway._arrivals.places)
        assert open_files() == files


async def test_an_offer_without_a_file_is_refused() -> None:
    """That is how it comes when there are no more files to be had."""
    async with next_door(met=False) as pair:
        with pair.stranger() as stranger:
            assert isinstance(await stranger.hear(), Ready)
            stranger.say(Offer(1, ANYBODY))
            assert await stranger.hear() == Refused(1, Handed.FULL)
            stranger.say(Go(1))
            stranger.say(Stay(7))
            stranger.say(Taken(7))
            stranger.say(Offer(2, ANYBODY))
            assert await stranger.hear() == Refused(2, Handed.FULL)


@asynccontextmanager
async def promised() -> AsyncGenerator[tuple[NextDoor, Stranger, socket.socket]]:
    """A worker stops that has promised a place; with the client's end of that line."""
    async with next_door(met=False) as pair:
        with pair.stranger() as stranger, socket.create_server(("127.0.0.1", 0)) as server:
            assert isinstance(await stranger.hear(), Ready)
            with socket.create_connection(server.getsockname()) as client:
                line, _ = server.accept()
                with line:
                    stranger.say(Offer(1, ANYBODY), line.fileno())
                    assert await stranger.hear() == Taken(1)
                gateway = pair.one.gateway
                stopping = asyncio.create_task(gateway._stop(gateway._server))
                for _ in range(20):
                    await asyncio.sleep(0)
                assert not stopping.done()
                yield pair, stranger, client
                assert not gateway._arrivals.places
                await stopping


async def test_who_is_given_to_a_worker_that_stops_is_told_so() -> None:
    async with promised() as (_, stranger, client):
        stranger.say(Go(1))
        reader, writer = await asyncio.open_connection(sock=client.dup())
        assert b"restarting" in await reader.readuntil((1012).to_bytes(2, "big"))
        writer.close()
        await writer.wait_closed()


async def test_who_stays_elsewhere_is_not_waited_for() -> None:
    with capture_logs() as logged:
        async with promised() as (pair, stranger, _):
            stranger.say(Stay(1))
            await until(lambda: not pair.one.gateway._arrivals.places)
    assert "connections_cut" not in [entry["event"] for entry in logged]


async def test_a_line_that_is_dead_when_it_comes_leaves_nothing() -> None:
    async with next_door(met=False) as pair:
        with pair.stranger() as stranger:
            assert isinstance(await stranger.hear(), Ready)
            with socket.create_server(("127.0.0.1", 0)) as server:
                with socket.create_connection(server.getsockname()):
                    line, _ = server.accept()
                with line:
                    stranger.say(Offer(1, ANYBODY), line.fileno())
                    assert await stranger.hear() == Taken(1)
                stranger.say(Go(1))
            await until(lambda: pair.one.counts("scopa_closes_total") == 1)
            assert pair.connections() == (0, 0)
            assert not pair.one.gateway._arrivals.places
            assert len(pair.one.gateway._lines) == 0


async def test_what_can_t_be_given_stays() -> None:
    """The line to the other worker has no room left when it says that it takes a connection."""
    async with asked() as (pair, stranger, line, number):
        neighbour = pair.met[0].all[0]
        while not neighbour.is_full:
            neighbour.tell(Stay(0))
        stranger.say(Taken(number))
        await is_served_here(pair, line, Handed.BUSY)
        code = await pair.room()
        async with Player(pair.one.url) as player:
            await player.join(code, "Ugo")
            assert pair.handed(Handed.BUSY) == 2
        while (message := await stranger.hear()) == Stay(0):
            pass
        assert message == Stay(number)
        assert not neighbour.is_full

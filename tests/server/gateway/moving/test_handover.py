"""A connection goes on at another worker, and its client, a real one, notices nothing."""

import asyncio
import random
from contextlib import AsyncExitStack

import msgspec
import pytest

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK, Codec
from scopa_protocol.codes import ErrorCode
from scopa_protocol.frames import Hello, Joined, Pong, RoomFrame, ServerFrame
from scopa_server.bounds import Bounds
from scopa_server.gateway.handover import Movable
from scopa_server.gateway.homes import home, token_at
from scopa_server.metrics import Handed
from scopa_server.room.refused import Refused
from scopa_server.room.tokens import room_code
from support.bare import CONTINUATION, PING, TEXT, frame
from support.front import until
from support.next_door import next_door
from support.player import Player
from support.raw import raw


def command(number: int, kind: str, **fields: object) -> bytes:
    """A command's text."""
    return msgspec.json.encode({"type": kind, "id": number, **fields})


async def answers(player: Player, number: int) -> list[object]:
    """What so many frames answer."""
    frames = [await player.receive() for _ in range(number)]
    return [getattr(frame, "re", None) for frame in frames]


def is_all_answered_once(frames: list[ServerFrame]) -> bool:
    """Whether no command was answered twice, and there is one `hello`."""
    re = [getattr(frame, "re", None) for frame in frames]
    given = [number for number in re if isinstance(number, int)]
    return len(given) == len(set(given)) and isinstance(frames[0], Hello)


@pytest.mark.parametrize("codec", [JSON, MSGPACK], ids=["json", "msgpack"])
async def test_a_client_notices_nothing(codec: Codec) -> None:
    async with next_door() as pair:
        code = await pair.room()
        async with Player(pair.one.url, codec=codec) as player:
            assert pair.connections() == (1, 0)
            invite = (await player.join(code, "Ugo")).invite
            assert pair.handed(Handed.DONE) == 1
            await until(lambda: pair.connections() == (0, 1))
            assert invite == f"{pair.one.url}/{code}"
            assert isinstance(await player.do(c.Ping()), Pong)
            await player.do(c.Say(text="ciao"))
            assert len(pair.one.gateway._lines) == 0
            (line,) = pair.two.gateway._lines._open
            # What it came with, a token maybe, is not kept beside it.
            assert isinstance(line, Movable)
            assert line.came is not None
            assert line.came.received == b""
        assert [type(frame) for frame in player.frames].count(Hello) == 1
        assert is_all_answered_once(player.frames)
        await until(lambda: pair.connections() == (0, 0))
        total = "scopa_connections_total"
        assert (pair.one.counts(total), pair.two.counts(total)) == (1, 0)
        closes = "scopa_closes_total"
        assert (pair.one.counts(closes), pair.two.counts(closes)) == (0, 1)
        assert pair.two.counted('scopa_closes_total{code="1000"} 1.0')


async def test_it_goes_to_and_fro_while_it_looks_around() -> None:
    async with next_door() as pair:
        codes = [await pair.room(at=2), await pair.room(at=1)]
        async with Player(pair.one.url) as player:
            for number in range(6):
                seen = await player.do(c.Look(room=codes[number % 2]))
                assert isinstance(seen, RoomFrame)
                assert seen.room == codes[number % 2]
            await until(lambda: pair.connections() == (1, 0))
            await player.join(codes[1], "Ugo")
        assert pair.handed(Handed.DONE) == 3
        assert is_all_answered_once(player.frames)


async def test_nobody_goes_to_and_fro_for_ever() -> None:
    async with next_door() as pair:
        codes = [await pair.room(at=2), await pair.room(at=1)]
        async with Player(pair.one.url) as player:
            for number in range(20):
                assert isinstance(await player.do(c.Look(room=codes[number % 2])), RoomFrame)
        done = 'scopa_handovers_total{outcome="done"}'
        assert pair.one.counts(done) + pair.two.counts(done) == 8
        often = 'scopa_handovers_total{outcome="often"}'
        assert pair.one.counts(often) + pair.two.counts(often) > 0


async def test_where_the_other_is_not_there_no_move_is_used_up() -> None:
    async with next_door(met=False) as pair:
        code = await pair.room(at=2)
        async with Player(pair.one.url) as player:
            for _ in range(20):
                await player.do(c.Look(room=code))
            assert pair.handed(Handed.AWAY) == 20
            pair.introduce()
            await until(lambda: pair.met[0].all[0].ready)
            await player.do(c.Look(room=code))
            assert pair.connections() == (0, 1)
        assert pair.handed(Handed.DONE) == 1


async def test_a_room_is_opened_where_its_token_leads() -> None:
    """Sent again, to any worker, `create` comes to the room that it has opened."""
    async with next_door() as pair:
        create = c.Create(name="Anna", rules={"variant": "scopa"}, token=token_at(2, 2))
        codes = set[str]()
        for front in (pair.one, pair.one, pair.two):
            async with Player(front.url) as player:
                joined = await player.do(create)
                assert isinstance(joined, Joined)
                codes.add(joined.room)
        assert len(codes) == 1
        assert pair.handed(Handed.DONE) == 2
        assert (len(pair.one.house.rooms), len(pair.two.house.rooms)) == (0, 1)


async def test_whose_room_is_at_home_here_stays() -> None:
    async with next_door() as pair:
        code = await pair.room(at=1)
        async with Player(pair.one.url) as player:
            await player.join(code, "Ugo")
            # In a room, a look at another is answered where it is.
            await player.do(c.Look(room=await pair.room(at=2)))
            await player.error(c.Look(room="no room"))
            assert pair.connections() == (1, 0)
        async with Player(pair.one.url) as player:
            await player.host("Anna")
        assert pair.handed(Handed.DONE) == 0


async def test_what_is_sent_behind_is_answered_in_order_and_once() -> None:
    async with next_door() as pair:
        code = await pair.room()
        async with Player(pair.one.url) as player:
            sent = [
                command(1, "join", room=code, name="Ugo"),
                *(command(number, "ping") for number in (2, 3, 4)),
                command(5, "say", text="ciao"),
            ]
            player.socket.transport.write(b"".join(frame(TEXT, text) for text in sent))
            assert await answers(player, 5) == [1, 2, 3, 4, [5]]
            assert await player.do(c.Ping()) is player.frames[-1]
            assert len(player.frames) == 7
        assert pair.handed(Handed.DONE) == 1


async def test_messages_and_frames_may_come_in_pieces() -> None:
    async with next_door() as pair:
        code = await pair.room()
        async with Player(pair.one.url) as player:
            join = command(1, "join", room=code, name="Ugo")
            pieces = [
                frame(TEXT, join[:10], fin=False),
                frame(PING, b"still there"),
                frame(CONTINUATION, join[10:30], fin=False),
                frame(CONTINUATION, join[30:]),
            ]
            for byte in b"".join(pieces):
                player.socket.transport.write(bytes([byte]))
                await asyncio.sleep(0)
            assert await answers(player, 1) == [1]
            await until(lambda: pair.connections() == (0, 1))
        assert pair.handed(Handed.DONE) == 1


async def test_who_sends_far_ahead_is_read_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits at the other worker is bounded, whatever its store is doing."""
    asked, answered = asyncio.Event(), asyncio.Event()

    async def look(*_: object) -> None:
        asked.set()
        await answered.wait()
        raise Refused(ErrorCode.UNKNOWN_ROOM, "There is no such room.")

    async with next_door() as pair:
        code = await pair.room()
        monkeypatch.setattr(pair.two.house.rooms, "look", look)
        async with Player(pair.one.url) as player:
            sent = [command(1, "look", room=code)]
            sent += [command(number, "ping") for number in range(2, 21)]
            player.socket.transport.write(b"".join(frame(TEXT, text) for text in sent))
            await asked.wait()
            await asyncio.sleep(0)
            (line,) = pair.two.gateway._lines._open
            assert not line.transport.is_reading()
            player.socket.transport.write(frame(TEXT, command(21, "ping")))
            answered.set()
            assert await answers(player, 21) == list(range(1, 22))
            assert line.transport.is_reading()
        assert pair.handed(Handed.DONE) == 1


async def test_a_message_begun_behind_is_ended_at_the_other() -> None:
    async with next_door() as pair:
        code = await pair.room()
        async with Player(pair.one.url) as player:
            join, ping = command(1, "join", room=code, name="Ugo"), command(2, "ping")
            begun = frame(TEXT, ping[:5], fin=False) + frame(CONTINUATION, ping[5:9], fin=False)
            player.socket.transport.write(frame(TEXT, join) + begun)
            assert await answers(player, 1) == [1]
            await until(lambda: pair.connections() == (0, 1))
            player.socket.transport.write(frame(CONTINUATION, ping[9:]))
            assert await answers(player, 1) == [2]


@pytest.mark.parametrize("cut", range(1, 12))
async def test_where_a_frame_is_half_read_all_is_answered_here(cut: int) -> None:
    async with next_door() as pair:
        code = await pair.room()
        async with Player(pair.one.url) as player:
            join, ping = command(1, "join", room=code, name="Ugo"), frame(TEXT, command(2, "ping"))
            player.socket.transport.write(frame(TEXT, join) + ping[:cut])
            assert await answers(player, 1) == [1]
            player.socket.transport.write(ping[cut:])
            assert await answers(player, 1) == [2]
            assert pair.connections() == (1, 0)
        assert pair.handed(Handed.UNFIT) == 1


@pytest.mark.parametrize("seed", range(10))
async def test_however_it_comes_all_is_answered_in_order_and_once(seed: int) -> None:
    chance = random.Random(seed)
    async with next_door() as pair:
        codes = [await pair.room(at=1), await pair.room(at=2)]
        async with Player(pair.one.url) as player:
            answered, waiting = list[object](), b""
            for number in range(1, 61):
                pinged = chance.choice([b"", frame(PING, b"?")])
                waiting += pinged + fragmented(chance, asking(chance, codes, number))
                size = chance.choice([0, 1, 20, len(waiting), len(waiting)])
                player.socket.transport.write(waiting[:size])
                waiting = waiting[size:]
                for _ in range(chance.choice([0, 1, 5, 20])):
                    await asyncio.sleep(0)
                if not waiting and chance.random() < 0.3:
                    answered += await answers(player, number - len(answered))
            player.socket.transport.write(waiting)
            answered += await answers(player, 60 - len(answered))
            assert answered == list(range(1, 61))
            await player.do(c.Ping())
            assert len(player.frames) == 62
        await until(lambda: pair.connections() == (0, 0))
        done = 'scopa_handovers_total{outcome="done"}'
        assert pair.one.counts(done) + pair.two.counts(done) > 0


def asking(chance: random.Random, codes: list[str], number: int) -> bytes:
    """A look at one of the rooms, or something else that is answered at once."""
    if chance.random() < 0.5:
        return command(number, "look", room=chance.choice(codes))
    return command(number, chance.choice(["ping", "start"]))


def fragmented(chance: random.Random, message: bytes) -> bytes:
    """A message as one frame, or as two."""
    if chance.random() < 0.7:
        return frame(TEXT, message)
    cut = chance.randrange(len(message))
    return frame(TEXT, message[:cut], fin=False) + frame(CONTINUATION, message[cut:])


@pytest.mark.parametrize(
    ("theirs", "outcome"),
    [
        (Bounds(max_connections=1), Handed.FULL),
        (Bounds(max_connections_per_address=1), Handed.ADDRESS_FULL),
    ],
)
async def test_where_the_other_is_full_it_is_served_here(theirs: Bounds, outcome: Handed) -> None:
    async with next_door(theirs=theirs) as pair:
        code = await pair.room()
        async with raw(pair.two.url) as other, Player(pair.one.url) as player:
            await other.until("hello")
            await player.join(code, "Ugo")
            assert pair.connections() == (1, 1)
            assert isinstance(await player.do(c.Ping()), Pong)
        assert pair.handed(outcome) == 1
        assert is_all_answered_once(player.frames)


async def test_the_other_counts_who_comes() -> None:
    async with next_door(theirs=Bounds(max_connections_per_address=1)) as pair:
        code = await pair.room()
        async with Player(pair.one.url) as player:
            await player.join(code, "Ugo")
            async with raw(pair.two.url) as other:
                frames, close = await other.end()
                assert (frames[-1]["code"], close) == ("too_many_connections", 1013)
        await until(lambda: pair.connections() == (0, 0))
        assert not pair.two.gateway._arrivals.places
        async with raw(pair.two.url) as other:
            assert (await other.frame())["type"] == "hello"
            assert (await other.ask({"type": "ping", "id": 1}))["type"] == "pong"


async def test_what_was_used_of_an_allowance_stays_used() -> None:
    bounds = Bounds(max_frames_per_second=10)
    async with next_door(bounds) as pair:
        code = await pair.room()
        async with raw(pair.one.url) as line:
            for number in range(1, 15):
                assert (await line.ask({"type": "ping", "id": number}))["type"] == "pong"
            await line.ask({"type": "look", "id": 15, "room": code})
            await until(lambda: pair.connections() == (0, 1))
            kinds = [
                (await line.ask({"type": "ping", "id": number}))["type"] for number in range(16, 24)
            ]
        assert kinds == ["pong"] * 5 + ["error"] * 3
        assert pair.two.counts('scopa_limits_met_total{limit="frames"}') == 3


async def test_nobody_stays_longer_by_going_to_and_fro() -> None:
    """A look that is refused gives no more time, wherever it is."""
    async with next_door(Bounds(idle_time=60)) as pair:
        unknown = [room_code("nobody's", attempt) for attempt in range(20)]
        there = next(code for code in unknown if home(code, 2) == 2)
        async with raw(pair.one.url) as line:
            await line.until("hello")
            for front in (pair.one, pair.two):
                front.house.time.advance(50)
            refused = await line.ask({"type": "look", "id": 1, "room": there})
            assert refused["code"] == "unknown_room"
            await until(lambda: pair.connections() == (0, 1))
            pair.two.house.time.advance(11)
            frames, close = await line.end()
            assert (frames[-1]["code"], close) == ("idle", 1008)


async def test_who_sends_too_much_does_not_go_anywhere() -> None:
    async with next_door(Bounds(max_frames_per_second=10)) as pair:
        code = await pair.room()
        async with raw(pair.one.url) as line:
            for number in range(1, 21):
                await line.ask({"type": "ping", "id": number})
            refused = await line.ask({"type": "look", "id": 21, "room": code})
            assert refused["code"] == "too_fast"
            assert pair.connections() == (1, 0)
        assert pair.handed(Handed.DONE) == 0


async def test_pings_without_end_are_too_many_over_both() -> None:
    async with next_door(Bounds(max_frames_per_second=10)) as pair:
        code = await pair.room()
        async with Player(pair.one.url) as player:
            send = player.socket.transport.write
            send(frame(PING) * 15)
            await player.do(c.Look(room=code))
            await until(lambda: pair.connections() == (0, 1))
            send(frame(PING) * 6)
            await player.socket.wait_closed()
            assert player.socket.close_code == 1008
        assert pair.two.counts('scopa_limits_met_total{limit="control_frames"}') == 1


async def test_a_worker_that_stops_takes_nobody_and_gives_nobody_away() -> None:
    async with next_door() as pair:
        code = await pair.room()
        async with Player(pair.one.url) as player, Player(pair.one.url) as other:
            pair.met[1].stop()
            await player.join(code, "Ugo")
            pair.met[0].stop()
            await other.do(c.Look(room=code))
            assert pair.connections() == (2, 0)
        assert pair.handed(Handed.STOPPING) == 2


async def test_who_comes_to_a_server_that_stops_is_told_so() -> None:
    """It was given away before the other worker stopped, and is there after that."""
    async with next_door() as pair:
        code = await pair.room()
        async with raw(pair.one.url) as line:
            await line.until("hello")
            pair.two.gateway._stopping = True
            await line.send({"type": "join", "id": 1, "room": code, "name": "Ugo"})
            frames, close = await line.end()
            assert (frames[-1]["code"], close) == ("restarting", 1012)


async def test_many_at_once_all_arrive() -> None:
    async with next_door() as pair:
        code = await pair.room()
        async with AsyncExitStack() as stack:
            players = [await stack.enter_async_context(Player(pair.one.url)) for _ in range(60)]
            seen = await asyncio.gather(*(player.do(c.Look(room=code)) for player in players))
            assert all(isinstance(frame, RoomFrame) for frame in seen)
            await until(lambda: pair.connections() == (0, 60))
            assert all(is_all_answered_once(player.frames) for player in players)

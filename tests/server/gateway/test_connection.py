"""What one connection may send, and what comes back."""

import asyncio
import random
from typing import Any

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK
from scopa_protocol.frames import Update
from scopa_server.gateway import connection
from scopa_server.live.room import LiveRoom
from scopa_server.live.rooms import Rooms
from support import raw as wire
from support.front import front, until
from support.player import Player
from support.raw import Raw, raw
from support.seated import parted, seen, table
from support.tables import token

RULES = {"variant": "scopone_scientifico"}
CREATE: dict[str, Any] = {"type": "create", "name": "Anna", "rules": RULES, "token": token(0)}
BOTH = pytest.mark.parametrize("protocol", [wire.JSON, wire.MSGPACK])


async def create(line: Raw, **more: Any) -> dict[str, Any]:
    """Open a room."""
    return await line.ask({**CREATE, "id": 1, **more})


# Shape


@BOTH
async def test_the_wrong_kind_of_frame_is_bad(protocol: str) -> None:
    async with front() as served, raw(served.url, [protocol]) as line:
        await line.socket.send(b'{"type":"ping"}' if not line.binary else '{"type":"ping"}')
        error = await line.until("error")
        assert error["code"] == "bad_message"
        assert ("binary" if line.binary else "text") in error["message"]
        assert (await line.ask({"type": "ping", "id": 1}))["type"] == "pong"


@BOTH
@pytest.mark.parametrize(
    "frame",
    [
        {"type": "fly"},
        {"type": "ping", "wings": 2},
        {"type": "look"},
        {"type": "look", "room": 7},
        {"type": "hello"},
        {"room": "ABCDEFGH"},
        {},
        [],
        None,
        "ping",
        7,
        {"type": "play", "deal": 1, "turn": 1, "card": "11D", "take": []},
        {"type": "play", "deal": 1, "turn": 1, "card": "1D", "take": ["2C", "2C"]},
        {"type": "play", "deal": 2**53, "turn": 1, "card": "1D", "take": []},
        {"type": "ping", "id": 0},
        {"type": "ping", "id": -1},
        {"type": "ping", "id": 2**53},
        {"type": "ping", "id": "1"},
        {"type": "ping", "id": True},
        {"type": "ping", "id": 1.5},
    ],
)
async def test_what_is_no_command_is_bad(protocol: str, frame: Any) -> None:
    async with front() as served, raw(served.url, [protocol]) as line:
        assert await line.refused(frame) == "bad_message"
        assert (await line.ask({"type": "ping", "id": 1}))["type"] == "pong"


@BOTH
async def test_a_bad_message_is_answered_by_its_number(protocol: str) -> None:
    async with front() as served, raw(served.url, [protocol]) as line:
        assert (await line.ask({"type": "fly", "id": 5}))["code"] == "bad_message"
        assert (await line.ask({"type": "ping", "id": 2**53 - 1}))["type"] == "pong"


async def test_bad_messages_without_end_close_the_connection() -> None:
    async with front() as served, raw(served.url) as line:
        for _ in range(connection.BAD_MESSAGES - 1):
            assert await line.refused({"type": "fly"}) == "bad_message"
        assert (await line.ask({"type": "ping", "id": 1}))["type"] == "pong"
        for _ in range(connection.BAD_MESSAGES):
            await line.send({"type": "fly"})
        frames, code = await line.end()
        assert (frames[-1]["type"], frames[-1]["retry"], code) == ("bye", False, 1008)


async def test_a_frame_may_have_sixteen_kib() -> None:
    async with front() as served, raw(served.url) as line:
        text = '{"type":"ping","id":1}'
        await line.socket.send(text + " " * (16384 - len(text)))
        assert (await line.until("pong"))["re"] == 1
        await line.socket.send(text + " " * (16385 - len(text)))
        assert (await line.end())[1] == 1009


# Numbers


@BOTH
async def test_answers_name_what_they_answer(protocol: str) -> None:
    async with front() as served, raw(served.url, [protocol]) as line:
        assert (await line.ask({"type": "ping", "id": 7}))["re"] == 7
        joined = await create(line)
        assert (joined["type"], joined["re"], joined["seat"]) == ("joined", 1, 0)
        assert (await line.ask({"type": "seat_bot", "id": 2, "seat": 1}))["re"] == [2]
        assert (await line.ask({"type": "sit", "id": 3, "seat": 1}))["re"] == 3
        pong = await line.ask({"type": "ping", "id": 4})
        assert (pong["seq"], pong["log"]) == (2, joined["view"]["log"])


async def test_who_gives_no_number_is_answered_without() -> None:
    async with front() as served, raw(served.url) as line:
        await line.until("hello")
        for frame, kind in [
            ({"type": "ping"}, "pong"),
            (CREATE, "joined"),
            ({"type": "seat_bot", "seat": 1}, "update"),
            ({"type": "seat_bot", "seat": 1}, "update"),
            ({"type": "sit", "seat": 1}, "error"),
        ]:
            await line.send(frame)
            answer = await line.frame()
            assert answer["type"] == kind
            assert answer.get("re") is None


@pytest.mark.parametrize("numbered", [True, False])
async def test_eight_commands_may_wait(numbered: bool) -> None:
    async with front() as served, raw(served.url) as line:
        await create(line)
        served.house.journal.gate.clear()
        for number in range(12):
            say = {"type": "say", "text": f"{number}"}
            await line.send({**say, "id": number + 2} if numbered else say)
        for _ in range(4):
            error = await line.until("error")
            assert error["code"] == "too_fast"
            assert error["details"]["retry_ms"] > 0
        served.house.journal.gate.set()
        answered: list[int] = []
        said: list[str] = []
        while len(said) < 8:
            update = await line.until("update")
            answered += update.get("re") or []
            said += [event["text"] for event in update["events"] if event["type"] == "said"]
        assert said == [str(number) for number in range(8)]
        assert answered == (list(range(2, 10)) if numbered else [])
        assert (await line.ask({"type": "say", "id": 99, "text": "on"}))["re"] == [99]


async def test_a_card_waits_for_what_was_sent_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    hashing, hashed, offered = asyncio.Event(), asyncio.Event(), asyncio.Event()
    take = connection.Connection._take

    async def hash_long(*_: object) -> str:
        hashing.set()
        await hashed.wait()
        return "hash"

    def watched(self: connection.Connection, data: bytes, text: bool) -> bool:
        if hashing.is_set():
            offered.set()
        return take(self, data, text)

    monkeypatch.setattr(Rooms, "_kept", hash_long)
    monkeypatch.setattr(connection.Connection, "_take", watched)
    async with front() as served, raw(served.url) as line:
        await create(line)
        await line.send({"type": "configure", "id": 2, "passcode": "sette"})
        await hashing.wait()
        await line.send({"type": "play", "id": 3, "deal": 1, "turn": 1, "card": "7D", "take": []})
        await offered.wait()
        hashed.set()
        answers = [await line.frame() for _ in range(2)]
        assert [answer["re"] for answer in answers] == [[2], 3]


async def test_a_card_that_faults_is_answered_and_logged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> bool:
        raise RuntimeError("on purpose")

    async with front() as served, raw(served.url) as line:
        await create(line)
        monkeypatch.setattr(LiveRoom, "ask", fail)
        await line.send({"type": "ready", "id": 2, "deal": 1})
        assert (await line.frame())["code"] == "internal_error"
        monkeypatch.undo()
        assert (await line.ask({"type": "ping", "id": 3}))["re"] == 3
    assert "command_fault" in capsys.readouterr().out


async def test_a_flood_is_answered_and_harms_nobody() -> None:
    async with front() as served, raw(served.url) as flood, Player(served.url) as anna:
        await anna.host("Anna")
        for _ in range(500):
            await flood.send({"type": "look", "room": "ABCDEFGH"})
        assert isinstance(await anna.do(c.SeatBot(seat=1)), Update)
        for _ in range(500):
            await flood.until("error")
        assert (await flood.ask({"type": "ping", "id": 1}))["type"] == "pong"


async def test_who_never_waits_for_answers_is_closed() -> None:
    async with front() as served, raw(served.url) as flood:
        await create(flood)
        served.house.journal.gate.clear()
        for _ in range(connection.WAITING + connection.FLOOD):
            await flood.send({"type": "say", "text": "ciao"})
        frames, code = await flood.end()
        refused = [frame["code"] for frame in frames if frame["type"] == "error"]
        assert refused == ["too_fast"] * connection.FLOOD
        assert (frames[-1]["code"], frames[-1]["retry"], code) == ("policy", False, 1008)


async def test_who_is_held_back_at_times_stays() -> None:
    async with front() as served, raw(served.url) as line:
        await create(line)
        for _ in range(connection.FLOOD // 4 + 1):
            served.house.journal.gate.clear()
            for _ in range(connection.WAITING + 4):
                await line.send({"type": "say", "text": "ciao"})
            for _ in range(4):
                assert (await line.until("error"))["code"] == "too_fast"
            served.house.journal.gate.set()
            said = 0
            while said < connection.WAITING:
                said += len((await line.until("update"))["events"])


# Roles


@BOTH
async def test_a_long_frame_is_decoded_once(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    codec = MSGPACK if protocol == wire.MSGPACK else JSON
    decode, decoded = codec.decode_command, list[int]()

    def counted(data: bytes) -> c.ClientCommand:
        decoded.append(len(data))
        return decode(data)

    async with front() as served, raw(served.url, [protocol]) as line:
        await create(line)
        # Once this is answered, it listens for cards.
        await line.ask({"type": "ping", "id": 9})
        monkeypatch.setattr(codec, "decode_command", counted)
        play = {"type": "play", "id": 2, "deal": 1, "turn": 1, "card": "1D"}
        answer = await line.ask({**play, "take": ["2D"] * 3000})
        assert answer["code"] == "bad_message"
        assert len(decoded) == 1


async def test_a_connection_takes_part_in_one_room() -> None:
    async with front() as served, raw(served.url) as line:
        for frame in ({"type": "leave"}, {"type": "start"}, {"type": "say", "text": "x"}):
            assert await line.refused(frame) == "not_in_a_room"
        room = (await create(line))["room"]
        for frame in (
            {**CREATE, "token": token(1)},
            {"type": "join", "room": room, "name": "Bruno"},
            {"type": "resume", "room": room, "token": token(0)},
            {"type": "watch", "room": room, "name": "Ugo"},
        ):
            assert await line.refused(frame) == "already_in_a_room"


async def test_who_leaves_is_answered_then_closed() -> None:
    async with front() as served, raw(served.url) as first, raw(served.url) as second:
        room = (await create(first))["room"]
        await second.ask({"type": "resume", "id": 1, "room": room, "token": token(0)})
        await first.send({"type": "leave", "id": 2})
        frames, code = await first.end()
        assert [frame["type"] for frame in frames[-2:]] == ["update", "bye"]
        assert (frames[-2]["re"], frames[-1]["retry"], code) == ([2], False, 1000)
        frames, code = await second.end()
        assert (frames[-1]["retry"], code) == (False, 4001)


async def test_leave_and_gone_at_once_still_leaves() -> None:
    async with front() as served, raw(served.url) as anna:
        room = (await create(anna))["room"]
        async with raw(served.url) as bruno:
            join = {"type": "join", "id": 1, "room": room, "name": "Bruno", "seat": 1}
            await bruno.ask(join)
            await bruno.send({"type": "leave"})
        while (await anna.until("update"))["view"]["seats"][1]["kind"] != "empty":
            pass


async def test_who_is_unseated_is_closed() -> None:
    async with front() as served, raw(served.url) as anna, raw(served.url) as bruno:
        room = (await create(anna))["room"]
        await bruno.ask({"type": "join", "id": 1, "room": room, "name": "Bruno", "seat": 1})
        await anna.send({"type": "unseat", "seat": 1, "name": "Bruno"})
        frames, code = await bruno.end()
        assert (frames[-1]["type"], frames[-1]["retry"], code) == ("bye", False, 4001)


async def test_a_fifth_connection_of_a_seat_closes_the_oldest() -> None:
    async with front() as served:
        lines = [Player(served.url, codec=JSON if n % 2 else MSGPACK) for n in range(5)]
        room = ""
        for line in lines:
            await line.__aenter__()
            if not room:
                room = (await line.host("Anna")).room
            else:
                assert lines[0].token is not None
                await line.resume(room, lines[0].token)
        await until(lambda: served.counted('scopa_closes_total{code="4004"} 1.0'))
        await lines[4].do(c.SeatBot(seat=1))
        views = [await seen(line, 2) for line in lines[1:]]
        assert all(view == views[0] for view in views)
        for line in lines:
            await line.socket.close()


async def test_a_look_before_sitting_down() -> None:
    async with front() as served, raw(served.url) as anna, raw(served.url) as ugo:
        room = (await create(anna, passcode="bastoni"))["room"]
        look = {"type": "look", "room": f"{room[:4].lower()}-{room[4:]}"}
        assert await ugo.refused(look) == "wrong_passcode"
        assert await ugo.refused({**look, "passcode": "coppe"}) == "wrong_passcode"
        shown = await ugo.ask({**look, "passcode": "bastoni", "id": 3})
        assert (shown["type"], shown["room"], shown["passcode"]) == ("room", room, True)
        assert [seat["name"] for seat in shown["seats"]] == ["Anna", None, None, None]
        assert shown["rules"]["variant"] == RULES["variant"]
        assert await ugo.refused({"type": "start"}) == "not_in_a_room"
        join = {"type": "join", "id": 4, "room": room, "name": "Ugo", "passcode": "bastoni"}
        assert (await ugo.ask(join))["seat"] == 1


# At the table


async def test_the_same_play_twice_at_once_is_one_play() -> None:
    async with front() as served:
        players = await table(served)
        mover = next(p for p in players if p.view and p.view.to_play == p.view.you)
        before = mover.view.seq if mover.view else 0
        play = mover.choice(random.Random(1))
        first, second = await mover.send(play), await mover.send(play)
        answered: list[int] = []
        while len(answered) < 2:
            frame = await mover.receive()
            assert isinstance(frame, Update)
            answered += frame.re or []
        assert answered == [first, second]
        assert (await seen(mover, before + 1)).seq == before + 1
        await parted(players)


async def test_one_seat_plays_from_two_connections_at_once() -> None:
    async with front() as served:
        players = await table(served)
        mover = next(p for p in players if p.view and p.view.to_play == p.view.you)
        assert mover.view is not None
        assert mover.token is not None
        async with Player(served.url, codec=JSON) as other:
            await other.resume(mover.view.room, mover.token)
            play = other.choice(random.Random(2))
            both = await asyncio.gather(mover.do(play), other.do(play))
            assert all(isinstance(frame, Update) for frame in both)
            latest = mover.view.seq
            assert await seen(mover, latest) == await seen(other, latest)
        await parted(players)


@BOTH
async def test_nonsense_in_between_breaks_nothing(protocol: str) -> None:
    nonsense: list[Any] = [{"type": "play"}, [], {"id": 7}, {"type": "play", "deal": "x"}, None]
    async with front() as served, raw(served.url, [protocol]) as line:
        await create(line, rules={"variant": "scopa", "players": 2})
        for number, frame in enumerate([*nonsense, *nonsense]):
            await line.send(frame)
            await line.socket.send(b"\xc1" if line.binary else "{")
            answer = await line.ask({"type": "say", "id": 10 + number, "text": "still here"})
            assert answer["re"] == [10 + number]

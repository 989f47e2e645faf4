"""The line to the server: what it does when it drops, and what it sends again."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import repeat

import pytest
from msgspec import structs

from scopa_cli.closing import Ending
from scopa_cli.heard import Busy, Got, Heard, Lost, Timing
from scopa_cli.session import Session
from scopa_protocol.commands import Create, Join, Play, Resume, Say, SeatBot, Watch
from scopa_protocol.frames import Error, Joined, Pong, Update
from support.fake_server import Peer, Scene, fake_server
from support.server_frames import CODE, HELLO, an_error, joined, lobby, playing, update

TOKEN = "t" * 32
JOIN = Join(room=CODE, name="Anna", token=TOKEN)
PLAY = Play(deal=1, turn=1, card="7D", take=["7C"])


def steady() -> Iterator[float]:
    """Always the same wait."""
    return repeat(0.25)


class Line:
    """A session under test: what it heard, and how long it paused."""

    def __init__(self, answer_seconds: float = 20.0) -> None:
        self.heard: list[Heard] = []
        self.pauses: list[float] = []
        self.on: Callable[[Heard], None] = lambda _: None
        timing = Timing(pause=self._pause, delays=steady, answer_seconds=answer_seconds)
        self.session = Session("", self._hear, timing=timing)

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(0)

    def _hear(self, heard: Heard) -> None:
        self.heard.append(heard)
        self.on(heard)

    def got(self, kind: type) -> list[Got]:
        """What came of one kind of frame."""
        return [one for one in self.heard if isinstance(one, Got) and isinstance(one.frame, kind)]

    async def at(self, *scenes: Scene) -> Ending:
        """Run against these scenes to the end."""
        async with fake_server(*scenes) as server:
            self.session.endpoint = server.endpoint
            async with asyncio.timeout(60):
                return await self.session.run()


async def leaves(peer: Peer) -> None:
    """The end of a scene: the seat is given up."""
    await peer.ws.close(1000)


async def test_an_opening_is_answered_and_commands_follow_in_order() -> None:
    line = Line()
    line.session.open(JOIN)
    line.session.send(SeatBot(seat=1))
    line.session.send(Say(text="ciao", key="k"))

    async def scene(peer: Peer) -> None:
        command = await peer.let_in(lobby(), Join)
        assert isinstance(command, Join)
        assert command.token == TOKEN
        first, second = await peer.number(SeatBot), await peer.number(Say)
        await peer.send(update(lobby("Anna", "Bot"), re=[first, second]))
        await leaves(peer)

    ending = await line.at(scene)
    assert not ending.retry
    [got] = line.got(Update)
    assert [type(waiting.command) for waiting in got.answers] == [SeatBot, Say]
    assert line.session.waiting == 0


async def test_a_play_without_an_answer_is_sent_again_on_the_next_line() -> None:
    line = Line()
    line.session.open(JOIN)
    line.session.send(PLAY)
    sent: list[Play] = []

    async def drops(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        sent.append(await peer.hear(Play))
        peer.drop()

    async def answers(peer: Peer) -> None:
        command = await peer.let_in(playing(), Resume)
        assert isinstance(command, Resume)
        assert (command.room, command.token) == (CODE, TOKEN)
        sent.append(await peer.hear(Play))
        assert sent[-1].id is not None
        await peer.send(update(playing(turn=2), re=[sent[-1].id]))
        await leaves(peer)

    await line.at(drops, answers)
    assert sent[0] == sent[1]
    assert structs.replace(sent[0], id=None) == PLAY
    [lost] = [one for one in line.heard if isinstance(one, Lost)]
    assert (lost.why, lost.delay) == ("The connection dropped.", 0.25)
    assert line.pauses == [0.25]


async def test_what_was_answered_is_not_sent_again() -> None:
    line = Line()
    line.session.open(JOIN)
    line.session.send(PLAY)

    async def answers(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await peer.send(update(playing(turn=2), re=[await peer.number(Play)]))
        peer.drop()

    async def again(peer: Peer) -> None:
        await peer.let_in(playing(turn=2), Resume)
        await leaves(peer)
        await peer.gone()

    await line.at(answers, again)
    assert line.session.waiting == 0


async def test_a_lost_answer_to_create_is_asked_for_with_the_same_token() -> None:
    line = Line()
    line.session.open(Create(name="Anna", rules={}, token=TOKEN))
    tokens: list[str | None] = []

    async def drops(peer: Peer) -> None:
        await peer.send(HELLO)
        tokens.append((await peer.hear(Create)).token)
        peer.drop()

    async def answers(peer: Peer) -> None:
        command = await peer.let_in(lobby(), Create)
        assert isinstance(command, Create)
        tokens.append(command.token)
        await leaves(peer)

    await line.at(drops, answers)
    assert tokens == [TOKEN, TOKEN]


async def test_a_late_answer_to_the_opening_holds_commands_back() -> None:
    line = Line()
    line.session.open(JOIN)
    line.session.send(PLAY)

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        number = await peer.number(Join)
        await peer.send(Pong())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await peer.ws.recv()
        await peer.send(joined(playing(), number))
        await peer.hear(Play)
        await leaves(peer)

    await line.at(scene)


async def test_at_most_eight_commands_wait_for_an_answer() -> None:
    line = Line()
    line.session.open(JOIN)
    for number in range(12):
        line.session.send(Say(text=str(number), key=str(number)))

    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby(), Join)
        numbers = [await peer.number(Say) for _ in range(8)]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await peer.ws.recv()
        await peer.send(update(lobby(), re=numbers))
        for _ in range(4):
            await peer.hear(Say)
        await leaves(peer)

    await line.at(scene)


@pytest.mark.parametrize("code", [1000, 1008, 1009, 4001, 4002, 4003, 4004])
async def test_a_final_close_is_obeyed(code: int) -> None:
    line = Line()
    line.session.open(JOIN)

    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby(), Join)
        await peer.ws.close(code)

    ending = await line.at(scene)
    assert not ending.retry
    assert ending.why
    assert ending.seat_gone == (code in (4001, 4002))


@pytest.mark.parametrize("code", [1001, 1011, 1012, 1013])
async def test_other_closes_are_come_back_from(code: int) -> None:
    line = Line()
    line.session.open(JOIN)

    async def closes(peer: Peer) -> None:
        await peer.let_in(lobby(), Join)
        await peer.bye(code, retry=True)

    async def again(peer: Peer) -> None:
        await peer.let_in(lobby(), Resume)
        await leaves(peer)

    await line.at(closes, again)
    assert line.pauses == [0.25]


async def test_bye_without_retry_is_obeyed_whatever_the_close_code() -> None:
    line = Line()
    line.session.open(JOIN)

    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby(), Join)
        await peer.bye(1012, retry=False, why="internal_error")

    ending = await line.at(scene)
    assert not ending.retry
    assert ending.why == "The server says goodbye."


async def test_a_server_that_never_answers_is_left_and_called_again() -> None:
    line = Line()
    line.session.open(JOIN)
    line.session.send(PLAY)

    async def silent(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await peer.hear(Play)
        # As soon as the answer is waited for, it has been for too long.
        while line.session._patience._alarm is None:  # noqa: ASYNC110
            await asyncio.sleep(0)
        line.session._patience._out()
        await peer.gone()

    async def answers(peer: Peer) -> None:
        await peer.let_in(playing(), Resume)
        await peer.send(update(playing(turn=2), re=[await peer.number(Play)]))
        await leaves(peer)

    await line.at(silent, answers)
    [lost] = [one for one in line.heard if isinstance(one, Lost)]
    assert lost.why == "The server doesn't answer."


async def test_a_server_without_a_greeting_is_left() -> None:
    line = Line(answer_seconds=0.05)
    line.session.open(JOIN)

    async def mute(peer: Peer) -> None:
        await peer.gone()

    ending = await line.at(mute, mute, mute, mute)
    assert ending.why.startswith("The server doesn't answer. Check the address")
    assert not line.session.asked


async def test_nobody_there_is_said_after_a_few_tries() -> None:
    line = Line()
    line.session.open(JOIN)
    line.session.endpoint = "ws://127.0.0.1:1/ws"
    ending = await line.session.run()
    assert "nothing listens there" in ending.why
    assert (ending.code, len(line.pauses)) == (1, 3)


async def test_a_busy_server_is_asked_again_after_the_time_it_names() -> None:
    line = Line()
    line.session.open(JOIN)
    line.session.send(PLAY)

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("too_fast", await peer.number(Join), retry_ms=1500))
        await peer.send(joined(playing(), await peer.number(Join)))
        await peer.send(an_error("storage_unavailable", await peer.number(Play)))
        await peer.send(update(playing(turn=2), re=[await peer.number(Play)]))
        await leaves(peer)

    await line.at(scene)
    assert [one.error.code for one in line.heard if isinstance(one, Busy)] == [
        "too_fast",
        "storage_unavailable",
    ]
    assert line.pauses == [1.5, 0.25]
    assert not line.got(Error)


async def test_a_server_that_stays_busy_is_believed_in_the_end() -> None:
    line = Line()
    line.session.open(JOIN)

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        for _ in range(6):
            await peer.send(an_error("server_full", await peer.number(Join)))
        await leaves(peer)

    await line.at(scene)
    [refused] = line.got(Error)
    assert refused.opening


async def test_a_refused_opening_is_told_and_another_can_be_tried() -> None:
    line = Line()
    line.session.open(JOIN)

    def with_passcode(heard: Heard) -> None:
        if isinstance(heard, Got) and isinstance(heard.frame, Error):
            line.session.open(structs.replace(JOIN, passcode="x"))

    line.on = with_passcode

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("wrong_passcode", await peer.number(Join)))
        command = await peer.hear(Join)
        assert command.passcode == "x"
        await peer.send(joined(lobby(), command.id))
        await leaves(peer)

    await line.at(scene)
    assert [got.opening for got in line.got(Error)] == [True]


async def test_a_watcher_watches_again() -> None:
    line = Line()
    line.session.open(Watch(room=CODE, name="Ugo"))

    async def drops(peer: Peer) -> None:
        await peer.let_in(playing(you=None), Watch)
        peer.drop()

    async def again(peer: Peer) -> None:
        await peer.let_in(playing(you=None), Watch)
        await leaves(peer)

    await line.at(drops, again)


async def test_unknown_and_unreadable_frames_are_passed_over() -> None:
    line = Line()
    line.session.open(JOIN)
    line.session.send(PLAY)

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await peer.ws.send('{"type":"of_tomorrow","x":[1]}')
        await peer.ws.send("no map at all")
        await peer.ws.send('{"type":"update","seq":"not a number"}')
        number = await peer.number(Play)
        await peer.ws.send('{"type":"of_tomorrow","re":%d}' % number)  # noqa: UP031
        await leaves(peer)

    await line.at(scene)
    assert line.session.waiting == 0
    assert line.got(Joined)


async def test_another_version_of_the_wire_is_refused_in_words() -> None:
    line = Line()
    line.session.open(JOIN)

    async def scene(peer: Peer) -> None:
        await peer.send(structs.replace(HELLO, version=2))
        await peer.gone()

    ending = await line.at(scene)
    assert "version 2" in ending.why


async def test_stop_ends_a_session_in_the_middle_of_a_pause() -> None:
    line = Line()
    line.session.open(JOIN)
    never = asyncio.Event()

    async def pause(_: float) -> None:
        line.session.stop(Ending(why="enough"))
        await never.wait()

    pausing: Callable[[float], Awaitable[None]] = pause
    session = Session("ws://127.0.0.1:1/ws", line.heard.append, timing=Timing(pause=pausing))
    line.session = session
    session.open(JOIN)
    assert (await session.run()).why == "enough"

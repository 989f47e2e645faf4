"""A person at the table, from the first command to the last sentence."""

from pathlib import Path

import pytest
from msgspec import structs

from scopa_cli.lines import line
from scopa_cli.player import Wishes
from scopa_protocol.commands import (
    Create,
    Join,
    Leave,
    Play,
    Ready,
    Resume,
    Say,
    SeatBot,
    Start,
    Watch,
)
from scopa_protocol.events import Said
from support.fake_console import FakeConsole
from support.fake_server import Peer
from support.person import CREATE, JOIN, RESUME, TOKEN, Person
from support.server_frames import (
    CODE,
    HELLO,
    a_count,
    an_error,
    joined,
    lobby,
    playing,
    update,
)


async def test_a_host_is_given_the_invite_and_seats_bots(tmp_path: Path) -> None:
    person = Person(tmp_path, CREATE)
    person.wishes = Wishes(bots=1)

    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby("Anna", None, None), Create)
        assert (await peer.hear(SeatBot)).seat == 2
        person.console.type("quit")
        await peer.send(update(lobby("Anna", None, "Bot"), re=[2]))
        await peer.gone()

    ending = await person.at(scene)
    assert ending.code == 0
    invite = f"ws://127.0.0.1:8765/{CODE}"
    assert invite in person.console.shown
    assert any("Only this machine can use it" in shown for shown in person.console.shown)
    assert person.console.shown[-1] == f"Your seat is kept. Come back with: scopa join {invite}"
    assert [(seat.room, seat.seat) for seat in person.store.all()] == [(CODE, 0)]
    assert person.console.stopped


async def test_the_token_is_on_disk_before_it_is_sent(tmp_path: Path) -> None:
    person = Person(tmp_path, CREATE)

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        command = await peer.hear(Create)
        assert [seat.token for seat in person.store.all()] == [command.token]
        await peer.send(an_error("bad_rules", command.id, field="target"))
        await peer.gone()

    ending = await person.at(scene)
    assert ending.code == 1
    assert "These rules can't be played." in person.console.text
    assert not person.store.all()


async def test_a_token_whose_answer_never_came_is_kept(tmp_path: Path) -> None:
    person = Person(tmp_path, CREATE)

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.hear(Create)
        assert person.player is not None
        person.player.interrupted()
        await peer.gone()

    ending = await person.at(scene)
    assert ending.code == 130
    assert [seat.token for seat in person.store.all()] == [TOKEN]


async def test_a_choice_is_asked_for_and_played(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN, FakeConsole(answers={"your turn> ": ["7D"], "which> ": ["2"]}))

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        play = await peer.hear(Play)
        assert (play.card, play.take) == ("7D", ["3C", "4S"])
        await peer.ws.close(4001)

    ending = await person.at(scene)
    assert "7D can do one of these:" in person.console.text
    assert ending.seat_gone
    assert not person.store.all()


async def test_a_line_that_drops_is_told_and_the_play_goes_out_again(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN, FakeConsole(answers={"your turn> ": ["1S"]}))

    async def drops(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await peer.hear(Play)
        peer.drop()

    async def again(peer: Peer) -> None:
        await peer.let_in(playing(), Resume)
        number = await peer.number(Play)
        await peer.send(update(playing(turn=2, to_play=1, seq=11), re=[number]))
        person.console.type("q")
        await peer.gone()

    await person.at(drops, again)
    assert "The connection dropped. Trying again in a moment." in person.console.shown
    assert "Back at the table." in person.console.shown
    assert person.console.asked[-1] == "Bruno's turn> "


async def test_a_refused_play_can_be_played_otherwise(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN)

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(options=None), Join)
        await person.console.sees("Your turn.")
        person.console.type("7D")
        person.console.type("7D 7C")
        number = await peer.number(Play)
        await peer.send(an_error("must_capture", number, options=[["7C"]]))
        await peer.send(update(playing(seq=11)))
        await person.console.sees("must take")
        person.console.type("7D 7C")
        assert (await peer.hear(Play)).take == ["7C"]
        await peer.ws.close(1000)

    await person.at(scene)
    assert "Your play is on its way: wait for the server's answer." in person.console.shown
    assert "That card must take something: type it with what it takes. It takes 7C." in (
        person.console.shown
    )


async def test_leaving_gives_the_seat_up_and_forgets_it(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN)

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await person.console.sees("Your turn.")
        person.console.type("leave")
        person.console.type("leave")
        await peer.send(update(playing(seq=11), re=[await peer.number(Leave)]))
        await peer.ws.close(1000)

    ending = await person.at(scene)
    assert ending.code == 0
    assert person.console.shown[-1] == "You gave your seat up."
    assert not person.store.all()


async def test_a_lost_answer_to_leave_is_no_fault(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN)

    async def drops(peer: Peer) -> None:
        await peer.let_in(lobby(), Join)
        await person.console.sees("seat 1")
        person.console.type("leave")
        await peer.hear(Leave)
        peer.drop()

    async def gone(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("bad_token", await peer.number(Resume)))
        await peer.gone()

    await person.at(drops, gone)
    assert person.console.shown[-1] == "You gave your seat up."
    assert not person.store.all()


async def test_going_before_leave_was_answered_keeps_the_token(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN)

    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby(), Join)
        await person.console.sees("seat 1")
        person.console.type("leave")
        await peer.hear(Leave)
        assert person.player is not None
        person.player.interrupted()
        await peer.gone()

    ending = await person.at(scene)
    assert ending.code == 130
    assert [seat.token for seat in person.store.all()] == [TOKEN]


async def test_another_word_disarms_leave(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN)

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await person.console.sees("Your turn.")
        for text in ("leave", "score", "leave", "quit"):
            person.console.type(text)
        await peer.gone()

    await person.at(scene)
    assert person.store.all()


async def test_lines_from_a_pipe_wait_for_the_table(tmp_path: Path) -> None:
    person = Person(tmp_path, CREATE, FakeConsole(fancy=False))
    person.wishes = Wishes(bots=1)

    async def scene(peer: Peer) -> None:
        person.console.type("start")
        person.console.type("say ciao")
        person.console.end()
        await peer.let_in(lobby(), Create)
        numbers = [await peer.number(SeatBot), await peer.number(Start), await peer.number(Say)]
        await peer.send(update(playing(), Said(name="Anna", seat=0, text="ciao"), re=numbers))
        await peer.gone()

    ending = await person.at(scene)
    assert ending.code == 0
    assert "Anna: ciao" in person.console.shown
    assert not any("Only this machine" in shown for shown in person.console.shown)


async def test_autoplay_plays_a_match_and_goes(tmp_path: Path) -> None:
    person = Person(tmp_path, CREATE, FakeConsole(fancy=False))
    person.wishes = Wishes(autoplay=True, once=True)

    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby(), Create)
        person.console.end()
        await peer.send(update(lobby("Anna", "Bruno", seq=2)))
        await peer.send(update(playing(), re=[await peer.number(Start)]))
        await peer.send(update(playing()))
        play = await peer.hear(Play)
        assert (play.card, play.take) == ("7D", ["7C"])
        over = playing(phase="deal_over", to_play=None, count=a_count(), seq=20)
        await peer.send(update(over, re=[play.id or 0]))
        ready = await peer.number(Ready)
        await peer.send(update(structs.replace(over, phase="match_over", seq=21), re=[ready]))
        await peer.gone()

    ending = await person.at(scene)
    assert ending.code == 0
    assert "A rematch?" in person.console.text


async def test_autoplay_says_when_it_needs_hints(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN)
    person.wishes = Wishes(autoplay=True)

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(options=None), Join)
        await peer.ws.close(1000)

    await person.at(scene)
    assert "--autoplay needs the room's hints" in person.console.text


async def test_a_watcher_watches_and_is_told(tmp_path: Path) -> None:
    person = Person(tmp_path, Watch(room=CODE, name="Ugo"), FakeConsole(fancy=False))

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(you=None, to_play=0), Watch)
        await person.console.sees("is to play")
        person.console.end()
        person.console.type("1")
        await peer.bye(1012, retry=False, why="of_tomorrow")

    ending = await person.at(scene)
    assert ending.code == 1
    assert f"You are watching room {CODE}." in person.console.shown
    assert "You are watching: only those seated play." in person.console.shown
    assert person.console.shown[-1] == "The server says goodbye."


async def test_what_is_typed_while_the_line_is_down_is_sent_later(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN)

    async def drops(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await person.console.sees("Your turn.")
        peer.drop()

    async def again(peer: Peer) -> None:
        await person.console.sees("Trying again")
        person.console.type("1S")
        await peer.let_in(playing(), Resume)
        await peer.hear(Play)
        await peer.ws.close(1000)

    await person.at(drops, again)
    assert "The line is down: that is sent as soon as it is back." in person.console.shown


@pytest.mark.parametrize("code", [4004, 1008])
async def test_a_final_close_keeps_the_seat_and_says_how_to_come_back(
    tmp_path: Path, code: int
) -> None:
    person = Person(tmp_path, JOIN)

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await peer.ws.close(code)

    ending = await person.at(scene)
    assert ending.code == 1
    assert "Your seat is kept." in person.console.shown[-1]
    assert person.store.all()


async def test_a_seat_that_is_lost_is_not_called_kept(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN)

    async def drops(peer: Peer) -> None:
        await peer.let_in(playing(), Join)
        await person.console.sees("Your turn.")
        peer.drop()

    async def forgot(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("bad_token", await peer.number(Resume)))
        await peer.gone()

    ending = await person.at(drops, forgot)
    assert ending.code == 1
    assert person.console.shown[-1] == (
        "The server doesn't know this seat any more: scopa join takes a new one."
    )
    # A store that is put back may know it again.
    assert [seat.token for seat in person.store.all()] == [TOKEN]


async def test_who_comes_back_is_told_of_another_seat(tmp_path: Path) -> None:
    person = Person(tmp_path, RESUME)

    async def drops(peer: Peer) -> None:
        await peer.let_in(playing(), Resume)
        await person.console.sees("Your turn.")
        peer.drop()

    async def again(peer: Peer) -> None:
        await peer.let_in(playing(), Resume)
        await person.console.sees("Back at the table.")
        person.console.type("q")
        await peer.gone()

    await person.at(drops, again)
    told = f"Back on seat 0 of room {CODE} (--new takes another seat)."
    assert person.console.shown.count(told) == 1
    assert person.console.text.count("--new") == 1


@pytest.mark.parametrize(
    ("invite", "drawn"), [(f"ws://127.0.0.1:8765/{CODE}", False), (f"wss://h.example/{CODE}", True)]
)
async def test_an_invite_is_drawn_where_others_can_use_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invite: str, *, drawn: bool
) -> None:
    monkeypatch.setattr("scopa_cli.player.qr", lambda *_: [line("a code")])
    person = Person(tmp_path, CREATE)

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(joined(lobby(), await peer.number(Create), invite=invite))
        person.console.type("quit")
        await peer.gone()

    await person.at(scene)
    assert invite in person.console.shown
    assert ("a code" in person.console.shown) is drawn
    assert any("Only this machine" in shown for shown in person.console.shown) is not drawn

"""Getting in: passcodes, names and seats that are asked for again."""

from pathlib import Path

import pytest

from scopa_protocol.commands import Join, Resume
from support.fake_console import FakeConsole
from support.fake_server import Peer
from support.person import JOIN, RESUME, TOKEN, Person
from support.server_frames import (
    HELLO,
    an_error,
    joined,
    lobby,
)


async def test_a_wrong_passcode_is_called_wrong(tmp_path: Path) -> None:
    answers = {"passcode> ": ["sesam", "sesamo"]}
    person = Person(tmp_path, JOIN, FakeConsole(answers=answers))

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        for _ in range(2):
            await peer.send(an_error("wrong_passcode", await peer.number(Join)))
        await peer.send(joined(lobby(), await peer.number(Join)))
        person.console.type("quit")
        await peer.gone()

    await person.at(scene)
    assert person.console.shown[0] == "The room needs its passcode."
    assert person.console.shown[1].startswith("That isn't the room's passcode")


async def test_a_passcode_is_asked_for_without_showing_it(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN, FakeConsole(answers={"passcode> ": ["sesamo"]}))

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("wrong_passcode", await peer.number(Join)))
        command = await peer.hear(Join)
        assert (command.passcode, command.token) == ("sesamo", TOKEN)
        await peer.send(joined(lobby(), command.id))
        person.console.type("quit")
        await peer.gone()

    await person.at(scene)
    assert person.console.hidden == ["passcode> "]


async def test_a_taken_name_is_asked_for_again(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN, FakeConsole(answers={"name> ": ["Annina"]}))

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("name_taken", await peer.number(Join)))
        command = await peer.hear(Join)
        assert command.name == "Annina"
        await peer.send(joined(lobby("Annina", None), command.id))
        person.console.type("quit")
        await peer.gone()

    await person.at(scene)
    assert [seat.name for seat in person.store.all()] == ["Annina"]


async def test_a_pipe_is_not_asked_but_told(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN, FakeConsole(fancy=False))

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("wrong_passcode", await peer.number(Join)))
        await peer.gone()

    ending = await person.at(scene)
    assert ending.code == 1
    assert "--passcode" in person.console.shown[-1]
    assert not person.store.all()


async def test_a_seat_that_the_server_forgot_is_asked_for_anew(tmp_path: Path) -> None:
    person = Person(tmp_path, RESUME)

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("bad_token", await peer.number(Resume)))
        command = await peer.hear(Join)
        assert command.token not in (None, TOKEN)
        await peer.send(joined(lobby(None, "Anna", you=1), command.id))
        person.console.type("quit")
        await peer.gone()

    await person.at(scene)
    [seat] = person.store.all()
    assert (seat.seat, seat.token == TOKEN) == (1, False)


async def test_a_forgotten_seat_is_kept_if_no_new_one_is_given(tmp_path: Path) -> None:
    person = Person(tmp_path, RESUME)

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("bad_token", await peer.number(Resume)))
        await peer.send(an_error("unknown_room", await peer.number(Join)))
        await peer.gone()

    ending = await person.at(scene)
    assert ending.code == 1
    assert [seat.token for seat in person.store.all()] == [TOKEN]


@pytest.mark.parametrize(
    ("code", "prompt"), [("name_taken", "name> "), ("wrong_passcode", "passcode> ")]
)
async def test_who_goes_where_no_seat_was_given_holds_none(
    tmp_path: Path, code: str, prompt: str
) -> None:
    person = Person(tmp_path, JOIN, FakeConsole(answers={prompt: ["quit"]}))

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error(code, await peer.number(Join)))
        await peer.gone()

    await person.at(scene)
    assert not person.store.all()


async def test_a_seat_asked_for_again_is_kept_before(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN, FakeConsole(answers={"passcode> ": ["sesamo"]}))

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("wrong_passcode", await peer.number(Join)))
        await peer.hear(Join)
        assert [seat.token for seat in person.store.all()] == [TOKEN]
        peer.drop()

    async def gone(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.hear(Join)
        person.console.type("quit")
        await peer.gone()

    await person.at(scene, gone)
    assert [seat.token for seat in person.store.all()] == [TOKEN]

"""A room is looked at before a seat is taken in it, and its commitments are noted."""

from pathlib import Path

from msgspec import structs

from scopa_cli.player import Wishes
from scopa_protocol.commands import Join, Look, Watch
from scopa_protocol.rules import Rules
from support.fake_console import FakeConsole
from support.fake_server import Peer
from support.person import JOIN, Person
from support.server_frames import CODE, HELLO, a_room, an_error, lobby, playing, update


async def test_a_room_is_shown_before_a_seat_is_taken(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN, FakeConsole(fancy=False))
    person.wishes = Wishes(look=True)

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(an_error("wrong_passcode", await peer.number(Look)))
        await peer.gone()

    async def again(peer: Peer) -> None:
        await peer.let_in(lobby(rules=Rules(target=16)), Join)
        person.console.end()
        await peer.gone()

    ending = await person.at(scene)
    assert ending.code == 1
    await person.at(again)
    seen = person.console.shown
    assert seen.index("  target=16") < seen.index(f"You sit on seat 0 of room {CODE}.")


async def test_who_sits_down_in_a_match_hears_when_cards_come(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN)
    view = playing(you=0)
    seat = structs.replace(view.seats[0], kind="bot", name="Colombina", reserved="Anna")

    async def scene(peer: Peer) -> None:
        await peer.let_in(structs.replace(view, seats=[seat, *view.seats[1:]], hand=[]), Join)
        person.console.end()
        await peer.gone()

    await person.at(scene)
    words = f"You sit on seat 0 of room {CODE}; your cards come with the next deal."
    assert words in person.console.shown


async def test_rules_of_the_room_can_be_declined(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN)
    person.wishes = Wishes(look=True)

    async def scene(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.send(a_room(lobby(rules=Rules(target=16)), await peer.number(Look)))
        await person.console.sees("target=16")
        person.console.type("q")
        await peer.gone()

    assert (await person.at(scene)).code == 0
    assert person.console.asked[-1] == "Enter to sit down, q to go> "
    assert not person.store.all()


async def test_enter_sits_down_under_the_rooms_rules(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN, FakeConsole(answers={"Enter to sit down, q to go> ": [""]}))
    person.wishes = Wishes(look=True)

    async def drops(peer: Peer) -> None:
        await peer.send(HELLO)
        await peer.hear(Look)
        peer.drop()

    async def scene(peer: Peer) -> None:
        await peer.let_in(lobby(rules=Rules(target=16)), Join)
        person.console.type("quit")
        await peer.gone()

    await person.at(drops, scene)
    assert [seat.seat for seat in person.store.all()] == [0]


async def test_commitments_are_witnessed(tmp_path: Path) -> None:
    seen: list[str | None] = []
    person = Person(tmp_path, JOIN)
    person.wishes = Wishes(witness=lambda view: seen.append(view.commitment))

    async def scene(peer: Peer) -> None:
        await peer.let_in(playing(commitment="aa"), Join)
        await peer.send(update(playing(commitment="bb", seq=11)))
        await peer.ws.close(1000)

    await person.at(scene)
    assert seen == ["aa", "bb"]


async def test_help_before_the_table_knows_who_comes_to_watch(tmp_path: Path) -> None:
    console = FakeConsole(answers={"connecting> ": ["help"]})
    person = Person(tmp_path, Watch(room=CODE, name="Ugo"), console)

    async def scene(peer: Peer) -> None:
        await console.sees("What you can type:")
        await peer.let_in(playing(you=None), Watch)
        await peer.ws.close(1000)

    await person.at(scene)
    assert "say TEXT" in console.text
    assert "kick SEAT" not in console.text

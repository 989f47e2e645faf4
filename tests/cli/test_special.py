"""Cirulla's and Chkobba's prompts, from the question to the command."""

from pathlib import Path

from msgspec import structs

from scopa_cli.autoplay import next_command
from scopa_cli.model import Known, update
from scopa_cli.screens.prompt import prompt
from scopa_cli.screens.table import table
from scopa_protocol.commands import Declare, FirstCard, Join, Play
from scopa_protocol.rules import Rules
from scopa_protocol.views import Declaration, Matta, View
from support.fake_console import FakeConsole
from support.fake_server import Peer
from support.person import JOIN, Person
from support.server_frames import lobby, playing
from support.server_frames import update as an_update
from support.shown import text

OFFERS = [
    Declaration(kind="low", matta=1, points=3),
    Declaration(kind="low", matta=2, points=3),
    Declaration(kind="three", matta=2, points=10),
]
HAND = ["2D", "7C", "2S"]


def cirulla(**changes: object) -> View:
    """A hand that may be declared."""
    rules = Rules(variant="cirulla", declarations=True, matta=True)
    options: dict[str, list[list[str]]] = {card: [] for card in HAND}
    view = playing(rules=rules, hand=HAND, options=options, declarations=OFFERS)
    return structs.replace(view, **changes)


def declared(view: View, seat: int, value: int) -> View:
    """The same once a seat declared with the matta."""
    seats = [
        structs.replace(one, revealed=HAND if one.seat == seat else None) for one in view.seats
    ]
    return structs.replace(
        view, seats=seats, declarations=[], matta=Matta(value=value, seat=seat), seq=view.seq + 1
    )


def test_each_declaration_is_offered_with_what_to_type() -> None:
    shown = text(table(cirulla()))
    assert "You may declare low, 7C as 1 (3 points). Type: declare 1" in shown
    assert "You may declare three, 7C as 2 (10 points). Type: declare 3" in shown
    assert "type declare" in prompt(cirulla())[1]
    assert prompt(cirulla(to_play=1)) == (
        "Bruno's turn> ",
        "You may declare your hand before you play a card of it: type declare.",
    )


def test_the_hand_shows_what_the_matta_stands_for() -> None:
    shown = text(table(declared(cirulla(), 0, 2)))
    assert "  2  7C=2  7 di coppe = 2" in shown
    assert "declare" not in shown


def test_the_hand_of_another_lies_open() -> None:
    view = declared(cirulla(hand=["9D"], options={"9D": []}), 1, 2)
    assert "Open hand of Bruno: 2D 7C=2 2S" in text(table(view))
    on_table = structs.replace(view, table=["7C", "5D"])
    assert "Table  7C=2  5D" in text(table(on_table))


async def test_a_hand_is_declared_out_of_turn_and_then_played(tmp_path: Path) -> None:
    person = Person(tmp_path, JOIN, FakeConsole())

    async def scene(peer: Peer) -> None:
        await peer.let_in(cirulla(to_play=1, options=None), Join)
        await person.console.sees("You may declare")
        person.console.type("declare")
        await person.console.sees("Type declare 1: low, 7C as 1 (3 points); declare 2")
        person.console.type("declare 3")
        command = await peer.hear(Declare)
        assert (command.batch, command.kind, command.matta) == (1, "three", 2)
        mine = declared(cirulla(turn=2, seq=12), 0, 2)
        await peer.send(an_update(mine, re=[command.id or 0]))
        await person.console.sees("7C=2")
        person.console.type("2")
        assert (await peer.hear(Play)).card == "7C"
        await peer.ws.close(1000)

    await person.at(scene)


async def test_a_first_card_is_kept_or_refused(tmp_path: Path) -> None:
    rules = Rules(variant="chkobba", deck="tunisian", first_card_choice=True)
    asked = playing(
        rules=rules, first_card="9B", to_play=None, hand=[], table=[], stock=40, batch=0, turn=0
    )
    person = Person(tmp_path, JOIN, FakeConsole(answers={"keep or refuse> ": ["9B"]}))

    async def scene(peer: Peer) -> None:
        await peer.let_in(asked, Join)
        await person.console.sees("First say whether")
        person.console.type("refuse")
        command = await peer.hear(FirstCard)
        assert (command.deal, command.keep) == (1, False)
        dealt = playing(rules=rules, table=["9B", "4S"], seq=12)
        await peer.send(an_update(dealt, re=[command.id or 0]))
        await person.console.sees("Your turn.")
        await peer.ws.close(1000)

    await person.at(scene)
    assert "  Your first card would be 9B♣J." in person.console.shown
    assert "First say whether you take the first card: keep or refuse." in person.console.shown
    assert prompt(asked)[1] == "Your first card would be 9B♣J: type keep or refuse."


def test_who_waits_for_a_first_card_is_told() -> None:
    waits = playing(to_play=None, hand=[], table=[], stock=40, batch=0, turn=0, seq=11)
    _, lines = update(Known(view=lobby("Anna", "Bruno")), an_update(waits))
    assert prompt(waits)[0] == "> "
    assert lines == []


def test_a_client_that_plays_by_itself_declares_the_best() -> None:
    assert next_command(cirulla()) == Declare(deal=1, batch=1, kind="three", matta=2)
    assert isinstance(next_command(declared(cirulla(), 0, 2)), Play)

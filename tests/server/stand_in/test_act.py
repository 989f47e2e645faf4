"""What a stand-in does when the table waits for its seat, from views alone."""

import pytest
from msgspec.structs import replace

from scopa_protocol import commands as c
from scopa_protocol.views import Matta, View
from scopa_server.room.project import Scene, project_for_server
from scopa_server.stand_in.act import act
from scopa_server.stand_in.choose import choose
from support.stacked import begun, stack
from support.tables import Table

NINES = "9D 9C 8B"


def view(table: Table) -> View:
    """What the server sees for the seat that the table waits for."""
    seat = table.room.awaited
    assert seat is not None
    return project_for_server(table.room, seat, Scene(log=""))


def dealt(hand: str, table: str = "10D 8D 8C 6S", **rules: object) -> View:
    """What it sees with that hand, about to lead."""
    return view(begun(stack(hand, NINES, table=table), variant="cirulla", **rules))


def test_a_first_card_is_kept() -> None:
    assert act(view(begun(variant="chkobba"))) == c.FirstCard(deal=1, keep=True)


@pytest.mark.parametrize(
    ("hand", "kind", "matta"),
    [
        ("1D 3C 4S", "low", None),
        ("2D 3B 7C", "low", 1),
        ("3D 3C 3S", "three", None),
        ("2D 2B 7C", "three", 2),
        ("10B 10S 7C", "three", 10),
    ],
)
def test_the_best_is_declared(hand: str, kind: str, matta: int | None) -> None:
    command = act(dealt(hand))
    assert isinstance(command, c.Declare)
    assert (command.deal, command.batch) == (1, 1)
    assert (command.kind, command.matta) == (kind, matta)


def test_both_where_both_count() -> None:
    command = act(dealt("2D 2B 7C", declare_both=True))
    assert isinstance(command, c.Declare)
    assert (command.kind, command.matta) == ("both", 2)


def test_with_nothing_to_declare_a_card_is_played() -> None:
    seen = dealt("10B 4C 5S")
    card, take = choose(seen)
    assert act(seen) == c.Play(deal=1, turn=1, card=card, take=take)


def test_a_table_is_in_danger_by_what_a_matta_stands_for() -> None:
    seen = dealt("10B 4C 5S")
    plain = replace(seen, table=["7C"], hand=["4S", "9D"], options={"4S": [], "9D": []})
    named = replace(plain, matta=Matta(value=5, seat=1))
    # Seven and four are too much for one card; five and four are not.
    assert choose(plain) == ("4S", [])
    assert choose(named) == ("9D", [])

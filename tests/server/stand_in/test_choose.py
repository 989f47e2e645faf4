"""What a stand-in plays, from views alone."""

import random

import pytest
from msgspec.structs import replace

from scopa_protocol.views import View
from scopa_server.room.decide.playing import OPTIONS_SHOWN
from scopa_server.room.project import Scene, project_for_server
from scopa_server.rules import captures
from scopa_server.stand_in.choose import choose
from support.tables import Table


def at(table: str, hand: str) -> View:
    """A view of scopa with that table and hand, its turn."""
    room = Table(variant="scopa").start().room
    cards = tuple(table.split())
    options = {
        card: [list(s) for s in captures.options(room.rules, cards, card, limit=OPTIONS_SHOWN)]
        for card in hand.split()
    }
    view = project_for_server(room, room.to_play or 0, Scene(log=""))
    return replace(view, table=list(cards), hand=hand.split(), options=options)


@pytest.mark.parametrize(
    ("table", "hand", "card", "take"),
    [
        ("7D 3C 9S", "7S 3B", "7S", "7D"),
        ("2C 3S", "5D 9C", "5D", "2C 3S"),
        ("9C 4S 10B", "4B 9D", "9D", "9C"),
        ("6C", "3S 9B", "9B", ""),
        ("", "7D 10B", "10B", ""),
        ("1C 2S 9B", "3D 9S", "3D", "1C 2S"),
    ],
)
def test_the_best_capture_with_care(table: str, hand: str, card: str, take: str) -> None:
    chosen, taken = choose(at(table, hand))
    assert (chosen, sorted(taken)) == (card, sorted(take.split()))


def test_every_choice_is_legal() -> None:
    for seed in range(20):
        table = Table(seed=seed, variant="scopa", players=3).start()
        for _ in range(36):
            room = table.room
            if room.deal is None or room.to_play is None:
                break
            card, take = choose(project_for_server(room, room.to_play, Scene(log="")))
            hand = room.deal.hands[room.to_play]
            assert captures.check(room.rules, hand, room.deal.table, card, tuple(take)) is None
            table.play(random.Random(seed))


def test_out_of_turn_there_is_nothing_to_choose() -> None:
    table = Table().start()
    idle = next(seat for seat in range(4) if seat != table.room.to_play)
    with pytest.raises(ValueError, match="not this seat's turn"):
        choose(table.view(idle))

"""What is dealt and played at the peers, and what the load makes of their updates."""

import msgspec
import pytest

from scopa_bench.line import Broken
from scopa_bench.peers import DEALS, Boardgame, Card, Colyseus, PeerTable, dealt
from scopa_bench.table import SEATS


def test_forty_cards_are_played_of_every_deck() -> None:
    decks, plays = dealt()
    assert len(decks) == DEALS
    assert len(plays) == 40 * DEALS
    for number, deck in enumerate(decks):
        deal = plays[40 * number : 40 * number + 40]
        assert {play.card for play in deal} == set(deck)
        assert [play.turn for play in deal] == list(range(1, 41))
        assert deal[0].seat == (number + 1) % SEATS


PLAYS = [Card(1, "1D", [], 1), Card(2, "2D", [], 2)]


def shown(table: PeerTable, turn: int) -> memoryview:
    """What a seat gets when that card of the deal is next."""
    if isinstance(table, Boardgame):
        head = f'42/scopone,["update","m",{{"G":{{"turn":{turn}}},"_stateID":7}},[]]'
        return memoryview(head.encode())
    data = [b"\x0d", msgspec.msgpack.encode("view"), msgspec.msgpack.encode({"turn": turn})]
    return memoryview(b"".join(data))


class _Deaf:
    def send(self, *_: object) -> None:
        """Take it."""


@pytest.fixture(params=["boardgame.io", "Colyseus"])
def table(request: pytest.FixtureRequest) -> PeerTable:
    """A table whose four have been dealt to, with the first card under way."""
    ours = request.param == "boardgame.io"
    table = Boardgame(PLAYS, ["key"] * SEATS) if ours else Colyseus(PLAYS, schema=False)
    table.lines += [_Deaf()] * SEATS  # type: ignore[list-item]
    for seat in range(SEATS):
        table.heard(seat, shown(table, 1))
    table.step(0.0)
    return table


def test_a_move_is_over_when_all_four_are_updated(table: PeerTable) -> None:
    done: list[bool] = []
    table.finished = lambda _table, _since, played: done.append(played)
    for seat in range(SEATS):
        assert done == []
        table.heard(seat, shown(table, 2))
    assert done == [True]


def test_an_update_of_another_card_is_noticed(table: PeerTable) -> None:
    with pytest.raises(Broken, match="elsewhere"):
        table.heard(0, shown(table, 1))


def test_an_update_of_no_play_is_noticed(table: PeerTable) -> None:
    for seat in range(SEATS):
        table.heard(seat, shown(table, 2))
    with pytest.raises(Broken, match="more updates"):
        table.heard(0, shown(table, 2))


def test_what_is_no_update_is_noticed(table: PeerTable) -> None:
    with pytest.raises(Broken, match="isn't expected"):
        table.heard(0, memoryview(b"9 what is that?"))

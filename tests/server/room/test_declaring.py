"""Hands declared at a table: who may, what is answered, what everybody sees."""

import random

import pytest

from scopa_protocol import commands as c
from scopa_protocol import events as told
from scopa_protocol.codes import ErrorCode
from scopa_protocol.views import Declaration, Matta
from scopa_server.room import events as e
from scopa_server.room.apply import apply
from scopa_server.room.clock import decision
from scopa_server.room.stored import dump, load
from support.stacked import begun, stack
from support.tables import Table, heard

LOW = c.Declare(deal=1, batch=1, kind="low")
THREE = c.Declare(deal=1, batch=1, kind="three", matta=9)


def cirulla(*hands: str, table: str = "10D 8D 8C 6S", then: str = "", **rules: object) -> Table:
    """A match of Cirulla in which these hands are dealt first."""
    deck = stack(*hands, table=table, then=then)
    return begun(deck, variant="cirulla", players=len(hands), **rules)


def low_and_nines() -> Table:
    """Anna holds a low hand and leads; Bruno has two nines and the matta."""
    return cirulla("1D 3C 5S", "9D 9C 7C")


def play(table: Table, card: str, take: str = "") -> e.Events:
    """Let the seat to play play that card."""
    deal = table.room.deal
    assert deal is not None
    command = c.Play(deal=table.room.deal_number, turn=deal.turn, card=card, take=take.split())
    return table.do(deal.to_play, command)


def test_each_sees_what_it_may_declare_and_nobody_else_s() -> None:
    table = low_and_nines()
    assert table.view(0).declarations == [Declaration(kind="low", matta=None, points=3)]
    assert table.view(1).declarations == [Declaration(kind="three", matta=9, points=10)]
    assert table.view(1).to_play == 0
    assert table.view(None).declarations == []


def test_a_hand_is_declared_in_turn_and_out_of_it() -> None:
    table = low_and_nines()
    for seat, command in ((1, THREE), (0, LOW)):
        before = table.room
        (event,) = table.do(seat, command)
        ((_, item),) = heard(before, (event,), 0)
        assert isinstance(item, told.Declared)
        assert (item.seat, item.kind, item.matta) == (seat, command.kind, command.matta)
        assert table.view(seat).declarations == []
    assert table.view(None).to_play == 0
    assert table.view(0).turn == 1


def test_a_declared_hand_lies_open_until_it_is_played() -> None:
    table = low_and_nines()
    table.do(0, LOW)
    for viewer in (None, 0, 1):
        seats = table.view(viewer).seats
        assert seats[0].revealed == ["1D", "3C", "5S"]
        assert seats[1].revealed is None
    play(table, "3C")
    assert table.view(1).seats[0].revealed == ["1D", "5S"]


def test_a_named_matta_is_seen_by_all_until_it_is_taken() -> None:
    table = low_and_nines()
    table.do(1, THREE)
    for viewer in (None, 0, 1):
        assert table.view(viewer).matta == Matta(value=9, seat=1)
    play(table, "3C")
    view = table.view(1)
    assert view.options is not None
    assert sorted(map(sorted, view.options["7C"])) == [["3C", "6S"], ["6S"]]
    play(table, "7C", "6S")
    assert table.view(0).matta is None


def test_in_the_hand_it_takes_by_what_it_was_named() -> None:
    table = cirulla("1D 3C 5S", "2S 2B 7C", table="10D 8D 8C 9S")
    table.do(1, c.Declare(deal=1, batch=1, kind="low", matta=5))
    play(table, "3C")
    assert (
        table.code(1, c.Play(deal=1, turn=2, card="7C", take=["8D"])) is ErrorCode.ILLEGAL_CAPTURE
    )
    assert table.code(1, c.Play(deal=1, turn=2, card="7C", take=["10D"])) is None


def test_on_the_table_others_take_it_as_what_it_was_named() -> None:
    table = cirulla("1D 10C 5S", "4S 4B 7C", table="9D 8D 8C 9S")
    table.do(1, c.Declare(deal=1, batch=1, kind="three", matta=4))
    play(table, "10C")
    play(table, "7C")
    assert table.view(0).matta == Matta(value=4, seat=1)
    options = table.view(0).options
    assert options is not None
    assert sorted(map(sorted, options["5S"])) == [["10C"]]
    swept = sorted(["10C", "7C", "8C", "8D", "9D", "9S"])
    assert sorted(map(sorted, options["1D"])) == [["10C", "7C"], swept]
    refusal = table.refused(0, c.Play(deal=1, turn=3, card="5S", take=["7C"]))
    assert refusal.code is ErrorCode.ILLEGAL_CAPTURE
    assert refusal.details == {"options": [["10C"]]}


def test_partners_may_both_declare() -> None:
    table = cirulla("1D 3C 5S", "9D 9C 10B", "2S 2B 7C", "10S 9S 8S")
    table.do(0, LOW)
    table.do(2, c.Declare(deal=1, batch=1, kind="three", matta=2))
    table.deal_out(random.Random(4))
    assert table.room.count is not None
    sides = table.room.count.sides
    assert sides[0].points["declarations"] >= 13
    declared = table.room.finished[0].facts.declared
    assert sum(declared[::2]) == sides[0].points["declarations"]


# The same again, and what is refused


def test_the_same_again_is_a_success_then_and_later() -> None:
    table = low_and_nines()
    table.do(1, THREE)
    assert table.do(1, THREE) == ()
    play(table, "3C")
    play(table, "9D", "6S")
    assert table.do(1, THREE) == ()
    table.deal_out(random.Random(1))
    assert table.do(1, THREE) == ()
    assert table.code(0, LOW) is ErrorCode.WRONG_PHASE
    table.all_ready()
    assert table.room.deal_number == 2
    assert table.do(1, THREE) == ()
    assert table.code(0, THREE) is ErrorCode.STALE


def test_a_decision_that_was_made_is_not_made_again() -> None:
    table = cirulla("3D 3C 3S", "9D 9C 7C")
    table.do(0, LOW)
    assert table.code(0, c.Declare(deal=1, batch=1, kind="three")) is ErrorCode.STALE


def test_after_the_first_card_of_the_batch_it_is_too_late() -> None:
    table = low_and_nines()
    play(table, "3C")
    assert table.view(0).declarations == []
    assert table.code(0, LOW) is ErrorCode.CANNOT_DECLARE
    assert table.code(1, THREE) is None


@pytest.mark.parametrize(
    ("deal", "batch", "code"),
    [
        (0, 1, ErrorCode.STALE),
        (2, 1, ErrorCode.STALE),
        (1, 2, ErrorCode.STALE),
        (1, 0, ErrorCode.STALE),
        (1, 1, None),
    ],
)
def test_another_deal_or_batch_is_stale(deal: int, batch: int, code: ErrorCode | None) -> None:
    assert low_and_nines().code(0, c.Declare(deal=deal, batch=batch, kind="low")) is code


def test_a_batch_later_it_is_stale() -> None:
    table = cirulla("10C 9B 5S", "9D 9C 8B", table="10D 8D 8C 6S", then="1D 2S 2C 10B 3C 9S")
    chance = random.Random(1)
    while table.view(0).batch == 1:
        table.play(chance)
    assert table.code(0, LOW) is ErrorCode.STALE
    assert table.code(0, c.Declare(deal=1, batch=2, kind="low")) is None


@pytest.mark.parametrize(
    "command",
    [
        c.Declare(deal=1, batch=1, kind="three"),
        c.Declare(deal=1, batch=1, kind="low", matta=1),
        c.Declare(deal=1, batch=1, kind="both"),
    ],
)
def test_what_a_hand_is_not_can_t_be_declared(command: c.Declare) -> None:
    assert low_and_nines().code(0, command) is ErrorCode.CANNOT_DECLARE


def test_other_refusals() -> None:
    table = low_and_nines()
    assert table.code(None, LOW) is ErrorCode.NOT_SEATED
    table.do(1, c.Pause())
    assert table.code(0, LOW) is ErrorCode.PAUSED
    assert table.view(0).declarations != []
    assert begun(variant="escoba").code(0, LOW) is ErrorCode.NOT_ALLOWED


def test_who_waits_for_cards_declares_nothing() -> None:
    table = low_and_nines()
    table.do(0, c.Leave())
    table.do(None, c.Join(room="TESTROOM", name="Nina", token="n" * 22))
    assert table.view(0).declarations == []
    assert table.code(0, LOW) is ErrorCode.NOT_ALLOWED
    table.do(0, LOW, auto=True)
    assert table.view(0).declarations == []
    assert table.view(0).seats[0].revealed == ["1D", "3C", "5S"]


def test_the_clock_of_the_seat_to_play_goes_on() -> None:
    table = low_and_nines()
    before = decision(table.room)
    table.do(1, THREE)
    table.do(0, LOW)
    assert decision(table.room) == before


def test_a_declaration_survives_the_store() -> None:
    table = low_and_nines()
    table.do(1, THREE)
    assert load(dump(table.room)) == table.room
    assert table.room.deal is not None
    shown = repr(table.room.deal)
    assert not any(card in shown for card in ("9D", "9C", "7C"))


# The opening sweep


@pytest.mark.parametrize(
    ("opening", "scope"), [("10D 10S 3B 7C", 2), ("5D 5S 3B 7C", 1), ("1D 2C 5S 7B", 1)]
)
def test_an_opening_sweep_is_the_dealer_s(opening: str, scope: int) -> None:
    table = cirulla("6C 8B 9S", "9D 9C 8S", table=opening)
    assert table.room.dealer == 1
    view = table.view(0)
    assert view.table == []
    assert view.to_play == 0
    assert [side.captured for side in view.sides] == [0, 4]
    assert [side.scope for side in view.sides] == [0, scope]
    assert [side.scope_cards for side in view.sides] == [[], []]
    events = e.read_events(table.log[-1][1])
    assert isinstance(events[-1], e.OpeningSwept)
    before = table.room
    ((_, item),) = heard(before, events[-1:], 0) if before.deal else ((None, None),)
    assert item == told.OpeningSwept(side=1, cards=opening.split(), scope=scope)
    table.deal_out(random.Random(2))
    assert table.room.count is not None
    assert table.room.count.sides[1].scope >= scope


def test_a_void_opening_scores_nothing_and_passes_the_deal_on() -> None:
    void = stack("6C 8B 9S", "9D 9C 8S", table="1D 1S 6D 7C")
    after = stack("6C 8B 9S", "9D 9C 8S", table="9B 8D 4C 10B")
    table = begun(void, after, variant="cirulla")
    assert table.room.deal_number == 2
    assert table.room.dealer == 0
    assert [side.scope for side in table.view(0).sides] == [0, 0]
    assert sum(side.captured for side in table.view(0).sides) == 0
    assert not any(isinstance(x, e.OpeningSwept) for x in e.read_events(table.log[-1][1]))


def test_an_event_of_the_opening_needs_its_deal() -> None:
    room = low_and_nines().room
    swept = e.OpeningSwept(seat=1, cards=("10D", "8D", "8C", "6S"), scope=1)
    after = apply(room, swept, 0)
    assert after.deal is not None
    assert after.deal.last_taker == 1

"""The first card offered: what the table shows meanwhile, and what comes of keeping or not."""

import random
from itertools import pairwise

import pytest

from scopa_protocol import commands as c
from scopa_protocol import events as told
from scopa_protocol.codes import ErrorCode
from scopa_server.room import events as e
from scopa_server.room.clock import deadlines, decision, served_seat
from scopa_server.room.decide import Expired
from scopa_server.room.project import Scene, project_for_server
from scopa_server.room.stored import dump, load
from scopa_server.rules.cards import DECK
from support.stacked import begun, stack
from support.tables import Table, heard

KEEP = c.FirstCard(deal=1, keep=True)
LAY = c.FirstCard(deal=1, keep=False)
PLAIN = stack("5B 8B 9S", "9D 9C 8S", table="3C 4S 6D 10C")
VOID = stack("5B 8B 9S", "9D 9C 8S", table="10D 10S 10B 2C")


def chkobba(*decks: tuple[str, ...], **rules: object) -> Table:
    """A match of Chkobba, its first card offered to Anna."""
    return begun(*(decks or (PLAIN,)), variant="chkobba", **rules)


def kinds(events: e.Events) -> list[str]:
    """The types of events."""
    return [type(event).__name__ for event in events]


def test_while_it_is_awaited_only_the_asked_see_it() -> None:
    table = chkobba()
    for viewer in (None, 0, 1):
        view = table.view(viewer)
        assert (view.phase, view.to_play, view.stock) == ("playing", None, 40)
        assert (view.batch, view.turn, view.deal) == (0, 0, 1)
        assert (view.table, view.recent, view.options, view.matta) == ([], [], None, None)
        assert [seat.cards for seat in view.seats] == [0, 0]
        assert view.first_card == ("5B" if viewer == 0 else None)
        assert view.hand == (None if viewer is None else [])
    assert project_for_server(table.room, 0, Scene(log="")).first_card == "5B"


def test_its_offer_says_who_and_shows_the_commitment() -> None:
    table = Table(variant="chkobba", target=101).fill()
    before = table.room
    offered = heard(before, table.do(0, c.Start()), 0)[-1][1]
    assert isinstance(offered, told.FirstCardOffered)
    assert (offered.deal, offered.seat) == (1, table.room.asked)
    assert offered.dealer == table.room.dealer
    shown = table.view(None).commitment
    assert shown
    table.do(table.room.asked, KEEP)
    assert table.view(None).commitment == shown


def test_kept_it_is_the_first_of_the_leader_s_cards() -> None:
    table = chkobba()
    before = table.room
    events = table.do(0, KEEP)
    assert kinds(events) == ["FirstCardKept", "Dealt"]
    told_events = [item for _, item in heard(before, events, 0)]
    assert told_events[0] == told.FirstCardKept(seat=0)
    assert told_events[1] == told.Dealt(deal=1, batch=1, dealer=1, cards=[3, 3])
    assert table.view(0).hand == ["5B", "8B", "9S"]
    assert table.view(0).table == ["3C", "4S", "6D", "10C"]
    assert (table.view(0).batch, table.view(0).turn, table.view(0).to_play) == (1, 1, 0)
    assert table.view(0).first_card is None


def test_refused_it_begins_the_table() -> None:
    table = chkobba()
    before = table.room
    events = table.do(0, LAY)
    assert heard(before, events, 0)[0][1] == told.FirstCardLaid(seat=0, card="5B")
    deck = PLAIN
    assert table.view(0).table == [deck[0], *deck[7:10]]
    assert table.view(0).hand == [deck[1], deck[3], deck[5]]
    assert table.view(1).hand == [deck[2], deck[4], deck[6]]
    assert table.view(None).stock == 30


def test_what_is_refused_meanwhile() -> None:
    table = chkobba(declarations=True)
    assert table.code(0, c.Play(deal=1, turn=0, card="5B", take=[])) is ErrorCode.WRONG_PHASE
    assert table.code(1, c.Play(deal=1, turn=1, card="9D", take=[])) is ErrorCode.WRONG_PHASE
    assert table.code(0, c.Play(deal=0, turn=1, card="5B", take=[])) is ErrorCode.STALE
    declare = c.Declare(deal=1, batch=0, kind="low")
    assert table.code(0, declare) is ErrorCode.WRONG_PHASE
    assert table.view(0).declarations == []
    assert table.code(1, KEEP) is ErrorCode.NOT_YOUR_TURN
    assert "Anna" in table.refused(1, KEEP).message
    assert table.code(0, c.FirstCard(deal=2, keep=True)) is ErrorCode.STALE
    assert table.code(0, c.FirstCard(deal=0, keep=True)) is ErrorCode.STALE
    assert table.code(None, KEEP) is ErrorCode.NOT_SEATED
    assert table.code(0, c.Ready(deal=1)) is ErrorCode.WRONG_PHASE
    table.do(1, c.Pause())
    assert table.code(0, KEEP) is ErrorCode.PAUSED
    assert begun(variant="scopa").code(0, KEEP) is ErrorCode.NOT_ALLOWED


@pytest.mark.parametrize(("chosen", "other"), [(KEEP, LAY), (LAY, KEEP)])
def test_the_same_again_is_a_success_and_another_is_not(
    chosen: c.FirstCard, other: c.FirstCard
) -> None:
    table = chkobba()
    table.do(0, chosen)
    assert table.do(0, chosen) == ()
    assert table.code(0, other) is ErrorCode.STALE
    assert table.code(1, chosen) is ErrorCode.STALE
    table.deal_out(random.Random(1))
    assert table.do(0, chosen) == ()
    assert table.code(0, other) is ErrorCode.WRONG_PHASE
    table.all_ready()
    assert table.room.asked == 1
    assert table.do(0, chosen) == ()
    assert table.code(0, other) is ErrorCode.STALE
    table.do(1, c.FirstCard(deal=2, keep=True))
    assert table.do(0, chosen) == ()


@pytest.mark.parametrize("dealer", ["same", "next"])
def test_a_void_deal_offers_the_next_one_s_first_card(dealer: str) -> None:
    table = chkobba(VOID, PLAIN, void_dealer=dealer)
    table.append((e.SeatLeft(seat=1, name="Bruno"),))
    table.do(None, c.Join(room="TESTROOM", name="Nina", token="n" * 22))
    before, first = table.room, table.view(None).commitment
    events = table.do(0, KEEP)
    assert kinds(events) == ["FirstCardKept", "DealVoided", "Shuffled", "FirstCardOffered"]
    void = heard(before, events, 0)[1][1]
    assert isinstance(void, told.DealVoided)
    assert (void.deal, void.table) == (1, ["10D", "10S", "10B", "2C"])
    assert void.hands == [["5B", "8B", "9S"], ["9D", "9C", "8S"]]
    assert void.proof.deck == ",".join(VOID)
    assert table.room.deal_number == 2
    assert table.room.asked == (0 if dealer == "same" else 1)
    assert table.view(None).commitment != first
    # It was a deal: who waited for cards is asked, and gets them, with the next one.
    assert table.room.seats[1].name == "Nina"
    assert table.do(0, KEEP) == ()
    assert table.view(table.room.asked).first_card == PLAIN[0]
    table.do(table.room.asked, c.FirstCard(deal=2, keep=False))
    assert table.view(None).table == [PLAIN[0], *PLAIN[7:10]]


def test_a_void_deal_after_a_refusal_is_shown_as_it_was_dealt() -> None:
    deck = stack("5B 8B 9S", "9D 9C 8S", table="10S 10B 2C", laid="10D")
    table = chkobba(deck, PLAIN)
    before = table.room
    void = heard(before, table.do(0, LAY), 0)[1][1]
    assert isinstance(void, told.DealVoided)
    assert void.table == ["10D", "10S", "10B", "2C"]
    assert void.hands == [["5B", "8B", "9S"], ["9D", "9C", "8S"]]


def test_a_newcomer_meanwhile_waits_for_the_next_deal() -> None:
    table = chkobba()
    table.do(0, c.Leave())
    table.do(None, c.Join(room="TESTROOM", name="Nina", token="n" * 22))
    view = table.view(0)
    assert (view.first_card, view.hand) == (None, [])
    assert table.code(0, KEEP) is ErrorCode.NOT_ALLOWED
    assert served_seat(table.room) == 0
    table.do(0, KEEP, auto=True)
    assert table.room.seats[0].reserved is not None
    assert table.view(0).hand == []


def test_clocks_run_for_the_seat_that_is_asked() -> None:
    table = chkobba().set(turn_seconds=20, absent_seconds=30)
    assert [(clock.kind, clock.seat) for clock in deadlines(table.room, table.online)] == [
        ("turn", 0)
    ]
    table.online -= {0}
    table.gone(0)
    running = deadlines(table.room, table.online)
    assert [(clock.kind, clock.seat) for clock in running] == [("turn", 0), ("absent", 0)]
    awaited = decision(table.room)
    assert (awaited.deal, awaited.turn) == (1, 0)
    table.do(None, Expired("absent", awaited))
    assert served_seat(table.room) == 0
    assert deadlines(table.room, table.online) == ()
    table.do(0, KEEP, auto=True)
    assert table.do(None, Expired("absent", awaited)) == ()
    table.do(1, c.Pause())
    assert served_seat(table.room) is None


def test_who_comes_back_while_asked_has_the_whole_time_again() -> None:
    table = chkobba().set(turn_seconds=20)
    before = decision(table.room)
    table.do(None, Expired("turn", before))
    assert table.code(0, KEEP, auto=True) is None
    table = chkobba().set(turn_seconds=20)
    table.do(None, Expired("turn", decision(table.room)))
    table.do(0, c.Pause())
    assert table.room.seats[0].stand_in is False
    assert table.code(0, KEEP, auto=True) is ErrorCode.STALE


def test_every_decision_has_a_name_of_its_own() -> None:
    table, chance = chkobba(target=5), random.Random(3)
    names = [decision(table.room)]
    while table.phase() != "match_over":
        table.step(chance)
        names.append(decision(table.room))
    assert all(before != after for before, after in pairwise(names) if before.turn or after.turn)
    assert len({(name.deal, name.turn, name.since) for name in names}) > len(names) - 10


def test_a_match_may_be_ended_while_it_is_awaited() -> None:
    table = chkobba()
    table.do(0, c.EndMatch())
    assert table.code(0, KEEP) is ErrorCode.WRONG_PHASE
    assert table.view(0).first_card is None
    table.do(0, c.Start())
    assert table.room.deal_number == 2


def test_it_survives_the_store() -> None:
    table = chkobba()
    for command in (None, KEEP):
        if command is not None:
            table.do(0, command)
        assert load(dump(table.room)) == table.room
    assert not any(card in repr(chkobba().room.deal) for card in DECK)


def test_the_host_may_let_the_server_choose() -> None:
    table = begun(PLAIN, variant="chkobba", players=4)
    table.do(0, c.MakeHost(seat=1, name="Bruno"))
    table.do(1, c.StandIn(seat=0))
    assert served_seat(table.room) == 0
    table.do(0, KEEP, auto=True)
    assert served_seat(table.room) == 0
    table.do(0, c.Pause())
    assert table.room.seats[0].stand_in is False

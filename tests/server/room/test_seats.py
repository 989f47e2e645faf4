"""Seats: joining, leaving, moving, bots and stand-ins."""

import random

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_server.room import events as e
from scopa_server.room.tokens import token_hash
from support.tables import NAMES, four, nina, token

# Joining


def test_a_joiner_gets_an_empty_seat_before_a_bots() -> None:
    table = four()
    table.do(0, c.SeatBot(seat=1))
    table.do(None, nina())
    assert [seat.kind for seat in table.room.seats] == ["person", "bot", "person", "empty"]


def test_a_joiner_may_take_a_bots_seat_in_the_lobby() -> None:
    table = four()
    table.do(0, c.SeatBot(seat=1))
    bot = table.room.seats[1].name
    events = table.do(None, nina(1))
    assert [type(event) for event in events] == [e.SeatLeft, e.SeatTaken]
    assert table.room.seats[1].name == "Nina" != bot


def test_a_full_room_is_full_but_for_bots() -> None:
    table = four().fill()
    assert table.refused(None, nina()).code is ErrorCode.ROOM_FULL
    table.do(0, c.Unseat(seat=2, name=NAMES[2]))
    table.do(0, c.SeatBot(seat=2))
    table.do(None, nina())
    assert table.room.seats[2].name == "Nina"


def test_a_newcomer_in_a_match_waits_for_the_next_deal() -> None:
    chance = random.Random(1)
    table = four(target=50).start()
    table.do(1, c.Leave())
    held = table.room.deal and table.room.deal.hands[1]
    assert held
    assert table.room.seats[1].kind == "vacant"
    table.do(None, nina())
    view = table.view(1)
    assert (view.hand, view.options) == ([], None)
    assert (view.seats[1].kind, view.seats[1].name) == ("vacant", None)
    assert (view.seats[1].reserved, view.seats[1].stand_in) == ("Nina", True)
    assert view.seats[1].cards == len(held)
    while table.phase() == "playing":
        seat = table.room.to_play
        table.play(chance, auto=seat == 1)
        assert table.view(1).hand == []
        assert table.view(1).options is None
    table.all_ready()
    view = table.view(1)
    assert (view.seats[1].kind, view.seats[1].name, view.seats[1].reserved) == (
        "person",
        "Nina",
        None,
    )
    assert view.hand
    assert len(view.hand) == 3


def test_who_left_and_came_again_never_sees_the_old_hand() -> None:
    table = four().start()
    table.do(1, c.Leave())
    table.do(None, c.Join(room="TESTROOM", name=NAMES[1], seat=1, token=token(1)))
    assert table.view(1).hand == []
    play = c.Play(deal=1, turn=1, card="1D", take=[])
    assert table.refused(1, play).code is ErrorCode.NOT_ALLOWED


def test_a_bots_seat_in_a_match_is_the_bots_until_the_next_deal() -> None:
    chance = random.Random(1)
    table = four(target=50).fill()
    table.do(0, c.Unseat(seat=2, name=NAMES[2]))
    table.do(0, c.SeatBot(seat=2))
    table.online -= {2}
    table.start()
    table.do(None, nina(2))
    seat = table.view(None).seats[2]
    assert (seat.kind, seat.reserved) == ("bot", "Nina")
    assert table.view(2).hand == []
    # The host may still take the bot away, and the newcomer keeps the seat.
    assert seat.name is not None
    table.do(0, c.Unseat(seat=2, name=seat.name))
    assert (table.room.seats[2].kind, table.view(2).seats[2].reserved) == ("vacant", "Nina")
    while table.phase() == "playing":
        table.play(chance, auto=table.room.to_play == 2)
    table.all_ready()
    assert table.room.seats[2].name == "Nina"


def test_a_seat_that_is_kept_for_somebody_is_taken() -> None:
    table = four().start()
    table.do(1, c.Leave())
    table.do(None, nina(1))
    other = c.Join(room="TESTROOM", name="Zoe", seat=1, token="z" * 22)
    assert table.refused(None, other).code is ErrorCode.SEAT_TAKEN
    assert table.refused(0, c.SeatBot(seat=1)).code is ErrorCode.SEAT_TAKEN


def test_the_same_token_joins_once() -> None:
    table = four()
    table.do(None, nina(2))
    assert table.do(None, nina(3)) == ()
    assert table.room.seat_of(token_hash("n" * 22)) == 2


@pytest.mark.parametrize("seat", [-1, 4, 2**53 - 1, -(2**53) + 1])
def test_there_are_only_so_many_seats(seat: int) -> None:
    table = four()
    for command in (nina(seat), c.Sit(seat=seat), c.SeatBot(seat=seat)):
        who = None if isinstance(command, c.Join) else 0
        assert table.refused(who, command).code is ErrorCode.NO_SUCH_SEAT
    for other in (c.Unseat(seat=seat, name="Ada"), c.MakeHost(seat=seat, name="Ada")):
        assert table.refused(0, other).code is ErrorCode.NO_SUCH_SEAT
    table.start()
    assert table.refused(0, c.StandIn(seat=seat)).code is ErrorCode.NO_SUCH_SEAT


# Leaving


def test_a_seat_given_up_in_a_deal_is_played_on_by_the_server() -> None:
    chance = random.Random(3)
    table = four(target=50).start()
    while table.room.to_play != 1:
        table.play(chance)
    table.do(1, c.Leave())
    table.online -= {1}
    assert table.code(1, table.legal(chance)) is ErrorCode.NOT_SEATED
    table.play(chance, auto=True)
    while table.phase() == "playing":
        table.play(chance, auto=table.room.to_play == 1)
    table.all_ready()
    assert table.room.seats[1].kind == "vacant"
    assert table.view(0).seats[1].cards == 3


def test_a_seat_is_left_once() -> None:
    table = four().start()
    assert table.do(1, c.Leave())
    assert table.do(1, c.Leave()) == ()


def test_an_old_connection_of_a_seat_that_was_lost_can_do_nothing() -> None:
    table = four().fill()
    table.do(0, c.Unseat(seat=1, name=NAMES[1]))
    for command in (c.Sit(seat=1), c.Pause(), c.MakeHost(seat=1, name=NAMES[1])):
        assert table.refused(1, command).code is ErrorCode.NOT_SEATED


def test_a_reservation_given_up_leaves_the_seat_vacant() -> None:
    table = four().start()
    table.do(1, c.Leave())
    table.do(None, nina(1))
    assert [type(event) for event in table.do(1, c.Leave())] == [e.SeatLeft]
    assert table.room.seats[1].kind == "vacant"
    assert table.view(None).seats[1].reserved is None


def test_unseating_names_who_is_meant() -> None:
    table = four().start()
    assert table.refused(0, c.Unseat(seat=1, name="Ada")).code is ErrorCode.STALE
    table.do(0, c.Unseat(seat=1, name=NAMES[1]))
    assert table.do(0, c.Unseat(seat=1, name=NAMES[1])) == ()
    table.do(None, nina(1))
    assert table.refused(0, c.Unseat(seat=1, name=NAMES[1])).code is ErrorCode.STALE
    table.do(0, c.Unseat(seat=1, name="Nina"))
    assert table.room.seats[1].holder is None


def test_a_newcomer_sees_the_count_and_is_waited_for() -> None:
    table = four(target=50).start()
    table.do(1, c.Leave())
    table.online -= {1}
    table.do(None, nina(1))
    table.online |= {1}
    chance = random.Random(1)
    while table.phase() == "playing":
        table.play(chance, auto=table.room.to_play == 1)
    ready = c.Ready(deal=1)
    for seat in (0, 2, 3):
        table.do(seat, ready)
    assert table.phase() == "deal_over"
    table.do(1, ready)
    assert table.phase() == "playing"


def test_who_comes_after_one_that_was_ready_is_not_ready() -> None:
    table = four(target=50).start().deal_out(random.Random(1))
    ready = c.Ready(deal=1)
    table.do(1, ready)
    table.do(1, c.Leave())
    table.do(None, nina(1))
    assert not table.view(None).seats[1].ready
    assert table.do(1, ready)
    table.do(1, c.Leave())
    assert not table.view(None).seats[1].ready


def test_the_next_deal_starts_when_the_last_that_was_not_ready_leaves() -> None:
    for goes in (c.Leave(), None):
        table = four(target=50).start().deal_out(random.Random(1))
        for seat in (0, 1, 2):
            table.do(seat, c.Ready(deal=1))
        assert table.phase() == "deal_over"
        if goes:
            table.do(3, goes)
        else:
            table.do(0, c.Unseat(seat=3, name=NAMES[3]))
        assert table.phase() == "playing"


def test_the_next_deal_starts_when_a_pause_ends_and_all_are_ready() -> None:
    table = four(target=50).start().deal_out(random.Random(1))
    for seat in (0, 1, 2):
        table.do(seat, c.Ready(deal=1))
    table.do(0, c.Pause())
    table.online -= {3}
    table.gone(3)
    assert table.phase() == "deal_over"
    table.do(0, c.Unpause())
    assert table.phase() == "playing"


# Moving


def test_people_move_in_the_lobby() -> None:
    table = four()
    table.join(1)
    table.do(0, c.Sit(seat=3))
    assert [seat.name for seat in table.room.seats] == [None, "Bruno", None, "Anna"]
    assert table.room.host == 3
    assert table.refused(3, c.Sit(seat=1)).code is ErrorCode.SEAT_TAKEN


def test_the_host_arranges_everybody() -> None:
    table = four()
    table.join(1)
    table.do(0, c.SeatBot(seat=2))
    bot = table.room.seats[2].name
    names: list[str | None] = [bot, None, "Anna", "Bruno"]
    table.do(0, c.Arrange(names=names))
    assert [seat.name for seat in table.room.seats] == names
    assert table.room.host == 2
    assert table.room.seat_of(token_hash(token(1))) == 3


@pytest.mark.parametrize(
    ("names", "code"),
    [
        ([], ErrorCode.NO_SUCH_SEAT),
        (["Anna", "Bruno", None], ErrorCode.NO_SUCH_SEAT),
        (["Anna", "Bruno", None, None, None], ErrorCode.NO_SUCH_SEAT),
        (["Anna", None, None, None], ErrorCode.STALE),
        (["Anna", "Anna", "Bruno", None], ErrorCode.STALE),
        (["Anna", "Carla", None, None], ErrorCode.STALE),
        (["Anna", "bruno", None, None], ErrorCode.STALE),
    ],
)
def test_arranging_needs_everybody_once(names: list[str | None], code: ErrorCode) -> None:
    table = four()
    table.join(1)
    assert table.refused(0, c.Arrange(names=names)).code is code


# Bots and stand-ins


def test_bots_have_names_of_their_own() -> None:
    table = four()
    table.join(1)
    table.do(0, c.SeatBot(seat=2, level="normal"))
    table.do(0, c.SeatBot(seat=3))
    names = [seat.name for seat in table.room.seats]
    assert len(set(names)) == 4
    assert table.do(0, c.SeatBot(seat=3)) == ()
    assert table.refused(0, c.SeatBot(seat=1)).code is ErrorCode.SEAT_TAKEN


def test_there_are_only_the_levels_that_hello_names() -> None:
    refusal = four().refused(0, c.SeatBot(seat=1, level="divine"))
    assert refusal.code is ErrorCode.NOT_ALLOWED
    assert refusal.message == "There is no such level; name none, or one of these: normal."


def test_a_stand_in_plays_until_its_person_acts() -> None:
    chance = random.Random(1)
    table = four().start()
    seat = table.room.to_play
    assert seat is not None
    command = table.legal(chance)
    assert table.refused(seat, command, auto=True).code is ErrorCode.STALE
    table.do(0, c.StandIn(seat=seat))
    assert table.do(0, c.StandIn(seat=seat)) == ()
    assert table.view(None).seats[seat].stand_in
    events = table.do(seat, command)
    assert [type(event) for event in events][:2] == [e.Back, e.Played]
    assert not table.view(None).seats[seat].stand_in


def test_who_acts_again_is_back_but_not_by_a_resend() -> None:
    chance = random.Random(1)
    table = four().start()
    seat = table.room.to_play
    assert seat is not None
    command = table.legal(chance)
    table.do(seat, command)
    table.do(0, c.StandIn(seat=seat))
    assert table.do(seat, command) == ()
    assert table.room.seats[seat].stand_in
    assert [type(event) for event in table.do(seat, c.Pause())] == [e.Back, e.Paused]


def test_the_host_may_hand_its_own_seat_to_the_server() -> None:
    table = four().start()
    assert [type(event) for event in table.do(0, c.StandIn(seat=0))] == [e.StoodIn]
    assert table.do(0, c.StandIn(seat=0)) == ()
    assert table.room.seats[0].stand_in


def test_who_came_back_is_not_played_for() -> None:
    """The server thought of a card for a stand-in while its person came back."""
    chance = random.Random(1)
    table = four().start()
    seat = table.room.to_play
    assert seat is not None
    table.do(0, c.StandIn(seat=seat))
    command = table.legal(chance)
    table.back(seat)
    assert table.refused(seat, command, auto=True).code is ErrorCode.STALE

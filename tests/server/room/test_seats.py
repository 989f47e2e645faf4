"""Seats: joining, leaving, moving, bots, names, stand-ins and the host's power."""

import random

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_server.live.chance import new_token
from scopa_server.room import events as e
from scopa_server.room.decide import CameBack, GoneAway, open_room
from scopa_server.room.refused import Refused
from scopa_server.room.tokens import is_token, room_code, token_hash
from support.tables import NAMES, Table, token


def nina(seat: int | None = None, name: str = "Nina") -> c.Join:
    """A newcomer."""
    return c.Join(room="TESTROOM", name=name, seat=seat, token="n" * 22)


def four(**rules: object) -> Table:
    """A table for four, each alone."""
    return Table(seed=4, variant="scopa", players=4, sides=4, **rules)


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
    table.do(None, GoneAway(3))
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
    table.join(1, "Arlecchino")
    table.do(0, c.SeatBot(seat=2, level="normal"))
    table.do(0, c.SeatBot(seat=3))
    names = [seat.name for seat in table.room.seats]
    assert len(set(names)) == 4
    assert table.do(0, c.SeatBot(seat=3)) == ()
    assert table.refused(0, c.SeatBot(seat=1)).code is ErrorCode.SEAT_TAKEN


def test_there_are_only_the_levels_that_hello_names() -> None:
    refusal = four().refused(0, c.SeatBot(seat=1, level="divine"))
    assert refusal.code is ErrorCode.NOT_ALLOWED


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
    table.do(None, CameBack(seat))
    assert table.refused(seat, command, auto=True).code is ErrorCode.STALE


# The host


def _away(table: Table, seat: int, ms: int) -> Table:
    table.online -= {seat}
    table.offline_ms = {seat: ms}
    table.do(None, GoneAway(seat))
    return table


@pytest.mark.parametrize(("started", "needed"), [(False, 60_000), (True, 300_000)])
def test_a_host_that_is_long_away_may_be_replaced(started: bool, needed: int) -> None:
    claim = c.MakeHost(seat=1, name=NAMES[1])
    for ms, code in [(0, ErrorCode.NOT_HOST), (needed - 1, ErrorCode.NOT_HOST), (needed, None)]:
        table = four().fill()
        if started:
            table.start()
        _away(table, 0, ms)
        assert table.code(1, claim) is code
        assert table.room.host == (0 if code else 1)


def test_only_a_logged_absence_counts() -> None:
    table = four().fill()
    table.online -= {0}
    table.offline_ms = {0: 10**9}
    claim = c.MakeHost(seat=1, name=NAMES[1])
    assert table.refused(1, claim).code is ErrorCode.NOT_HOST
    _away(table, 0, 10**9)
    table.online |= {0}
    assert table.refused(1, claim).code is ErrorCode.NOT_HOST
    table.online -= {0}
    for other in (c.MakeHost(seat=2, name=NAMES[2]), c.MakeHost(seat=1, name="Ada")):
        assert table.code(1, other) in {ErrorCode.NOT_HOST, ErrorCode.STALE}
    table.do(1, claim)
    assert table.room.host == 1


def test_a_host_that_waits_for_cards_may_be_replaced_too() -> None:
    table = four().start()
    table.do(1, c.Leave())
    table.do(None, nina(1))
    table.do(0, c.MakeHost(seat=1, name="Nina"))
    claim = c.MakeHost(seat=2, name=NAMES[2])
    assert table.refused(2, claim).code is ErrorCode.NOT_HOST
    _away(table, 1, 300_000)
    assert table.view(None).seats[1].away
    table.do(2, claim)
    assert table.room.host == 2


def test_the_power_goes_to_who_is_there() -> None:
    table = four().fill()
    table.online = frozenset({0, 3})
    table.do(0, c.Leave())
    assert table.room.host == 3
    table.online = frozenset()
    table.do(3, c.Leave())
    assert table.room.host == 1


def test_when_all_have_left_the_next_to_come_is_host() -> None:
    for started in (False, True):
        table = four()
        for seat in (1, 2, 3):
            table.do(0, c.SeatBot(seat=seat))
        if started:
            table.do(0, c.Start())
        table.do(0, c.Leave())
        assert table.host() is None
        assert table.view(None).host is None
        table.do(None, nina())
        host = table.host()
        assert host is not None
        assert table.room.seats[host].holder is not None


def test_the_host_hands_its_power_to_a_person_only() -> None:
    table = four()
    table.do(0, c.SeatBot(seat=1))
    bot = table.room.seats[1].name or ""
    assert table.refused(0, c.MakeHost(seat=1, name=bot)).code is ErrorCode.STALE
    table.join(2)
    table.do(0, c.MakeHost(seat=2, name=NAMES[2]))
    assert table.room.host == 2
    assert table.refused(0, c.Start()).code is ErrorCode.NOT_HOST


# Away and back


def test_being_away_is_logged_once_and_only_for_who_is_gone() -> None:
    table = four().fill()
    assert table.do(None, GoneAway(1)) == ()
    table.online -= {1}
    assert table.do(None, GoneAway(1))
    assert table.do(None, GoneAway(1)) == ()
    assert table.view(None).seats[1].away
    assert table.do(None, CameBack(1))
    assert table.do(None, CameBack(1)) == ()


def test_what_the_server_noticed_of_a_seat_that_has_gone_is_nothing() -> None:
    table = four()
    table.do(0, c.Configure(rules={"players": 2, "sides": 2}))
    assert table.do(None, GoneAway(3)) == ()
    assert table.do(None, CameBack(3)) == ()


# Names


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "\u200b",
        "a\x1b[31m",
        "a\nb",
        "\u202eanna",
        "x" * 25,
        "\u0301",
        "\u3164",
        "a\u200db",
    ],
)
def test_names_that_nobody_can_read_are_refused(name: str) -> None:
    assert four().refused(None, nina(name=name)).code is ErrorCode.BAD_NAME
    with pytest.raises(Refused, match="bad_name"):
        open_room(c.Create(name=name, rules={}), token(0), None)


@pytest.mark.parametrize(
    "name",
    [
        "Anna",
        " anna ",
        "ANNA",
        "\uff21nna",
        "\u0410nna",
        "Ann\u0430",
        "A\u0300nna",
        "An na",
    ],
)
def test_names_that_look_alike_are_one(name: str) -> None:
    table = four()
    assert table.refused(None, nina(name=name)).code is ErrorCode.NAME_TAKEN


@pytest.mark.parametrize(("name", "alike"), [("Bill", "BiII"), ("Olga", "0lga"), ("Arno", "Amo")])
def test_letters_that_look_alike_are_one(name: str, alike: str) -> None:
    table = four()
    table.join(1, name)
    assert table.refused(None, nina(name=alike)).code is ErrorCode.NAME_TAKEN


@pytest.mark.parametrize("name", ["Annalisa", "\u0410\u043b\u043b\u0430", "李雷", "Zoë", "x" * 24])
def test_other_names_are_welcome(name: str) -> None:
    table = four()
    table.do(None, nina(1, f" {name} "))
    assert table.room.seats[1].name == name


def test_names_are_unique_among_seats_bots_watchers_and_who_waits() -> None:
    table = four().start()
    table.watchers = ("Ugo",)
    table.do(1, c.Leave())
    table.do(None, nina(1))
    table.do(2, c.Leave())
    for name in ("Ugo", "Nina", "Anna"):
        late = c.Join(room="TESTROOM", name=name, seat=2, token="z" * 22)
        assert table.refused(None, late).code is ErrorCode.NAME_TAKEN


# Tokens


def test_tokens_and_codes() -> None:
    assert is_token(new_token())
    assert new_token() != new_token()
    for text in ("", "x" * 21, "x" * 65, "x" * 22 + "\n", "x" * 21 + "/"):
        assert not is_token(text)
    made = new_token()
    assert made not in token_hash(made)
    codes = [room_code(made, attempt) for attempt in range(20)]
    assert len(set(codes)) == 20
    assert all(len(code) == 8 for code in codes)
    assert codes[0] == room_code(made, 0)

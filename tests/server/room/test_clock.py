"""What a room waits for, and what late or early clocks do."""

import random

import pytest

from scopa_protocol import commands as c
from scopa_server.room import events as e
from scopa_server.room.clock import Deadline, deadlines, decision, served_seat
from scopa_server.room.decide import Expired, Settle
from support.tables import Table


def match(**settings: object) -> Table:
    """A match of two, with these settings."""
    return Table(seed=1, variant="scopa", target=50).set(**settings).start()


def to_play(table: Table) -> int:
    """The seat to play."""
    seat = table.room.to_play
    assert seat is not None
    return seat


def used(table: Table, at: int) -> int:
    """What the present decision's clock has used at a time (ms), as a live room reckons."""
    running = 0 if table.room.paused_by is not None else at - table.room.clock_from
    return table.room.clock_used + running


def test_nothing_runs_between_matches() -> None:
    table = Table(variant="scopa").set(turn_seconds=5)
    assert deadlines(table.room, frozenset()) == ()
    table.start()
    table.do(0, c.EndMatch())
    assert deadlines(table.room, frozenset()) == ()
    assert served_seat(table.room) is None


def test_a_turns_clocks() -> None:
    table = match(turn_seconds=20, absent_seconds=60)
    seat = to_play(table)
    turn, absent = Deadline("turn", 20_000, seat), Deadline("absent", 60_000, seat)
    assert deadlines(table.room, frozenset({0, 1})) == (turn,)
    assert deadlines(table.room, frozenset({1 - seat})) == (turn, absent)
    table.set(turn_seconds=0)
    assert deadlines(table.room, frozenset({0, 1})) == ()
    assert deadlines(table.room, frozenset()) == (absent,)
    table.set(absent_seconds=0)
    assert deadlines(table.room, frozenset()) == ()


def test_the_next_deals_clock() -> None:
    table = match(next_deal_seconds=7).deal_out(random.Random(1))
    assert deadlines(table.room, table.online) == (Deadline("next_deal", 7000),)
    table.set(next_deal_seconds=0)
    assert deadlines(table.room, table.online) == ()
    table.set(next_deal_seconds=7)
    assert table.do(None, Expired("next_deal", decision(table.room)))
    assert table.phase() == "playing"


def test_a_turn_that_ran_out_is_played_by_a_stand_in() -> None:
    table = match(turn_seconds=5)
    seat = to_play(table)
    assert table.do(None, Expired("turn", decision(table.room))) == (e.StoodIn(seat=seat),)
    assert served_seat(table.room) == seat
    assert deadlines(table.room, table.online) == ()


def test_an_absent_seats_turn_is_played_by_a_stand_in_and_logged() -> None:
    table = match(absent_seconds=5)
    seat = to_play(table)
    table.online -= {seat}
    events = table.do(None, Expired("absent", decision(table.room)))
    assert events == (e.Away(seat=seat), e.StoodIn(seat=seat))


def test_who_is_back_before_the_absence_runs_out_plays_on() -> None:
    table = match(absent_seconds=5)
    seat = to_play(table)
    table.online -= {seat}
    table.gone(seat)
    late = Expired("absent", decision(table.room))
    table.online |= {seat}
    assert table.do(None, late) == ()


def test_a_clock_of_a_past_decision_changes_nothing() -> None:
    table = match(turn_seconds=5, next_deal_seconds=5)
    late = Expired("turn", decision(table.room))
    table.play(random.Random(1))
    assert table.do(None, late) == ()
    table.deal_out(random.Random(1))
    late = Expired("next_deal", decision(table.room))
    table.all_ready()
    assert table.do(None, late) == ()


@pytest.mark.parametrize("kind", ["turn", "absent", "next_deal", "proposal"])
def test_a_clock_that_was_switched_off_changes_nothing(kind: str) -> None:
    table = match(turn_seconds=0, absent_seconds=0, next_deal_seconds=0)
    table.online = frozenset()
    assert table.do(None, _expired(kind, table)) == ()
    table.online = frozenset({0, 1})
    table.deal_out(random.Random(1))
    assert table.do(None, _expired(kind, table)) == ()


def _expired(kind: str, table: Table) -> Expired:
    kinds = {name: name for name in ("turn", "absent", "next_deal", "proposal")}
    return Expired(kinds[kind], decision(table.room))  # type: ignore[arg-type]


def test_who_comes_back_has_a_whole_turn_and_an_older_clock_is_void() -> None:
    """Several processes show a room: the second one's clock runs out a second later."""
    table = match(turn_seconds=5)
    seat = to_play(table)
    first = second = Expired("turn", decision(table.room))
    table.do(None, first)
    table.back(seat)
    assert used(table, table.room.at) == 0
    assert table.do(None, second) == ()
    assert table.do(None, Expired("turn", decision(table.room)))


def test_a_pause_does_not_use_time() -> None:
    table = match(turn_seconds=20)
    begun = table.room.clock_from
    table.do(0, c.Pause())
    at_pause = used(table, table.room.at)
    assert at_pause == table.room.at - begun > 0
    assert used(table, table.room.at + 100_000) == at_pause
    table.do(1, c.Unpause())
    assert used(table, table.room.at) == at_pause
    assert used(table, table.room.at + 500) == at_pause + 500


def test_every_card_starts_the_clock_anew() -> None:
    chance = random.Random(1)
    table = match(turn_seconds=20)
    for _ in range(36):
        table.play(chance)
        assert used(table, table.room.at) == 0


def test_a_shorter_turn_begins_anew_and_other_settings_do_not_touch_the_clock() -> None:
    table = match(turn_seconds=60)
    begun = table.room.clock_from
    table.set(hints="off")
    assert table.room.clock_from == begun
    table.set(turn_seconds=5)
    assert used(table, table.room.at) == 0


def test_settling_is_nothing_while_somebody_has_not_seen_the_count() -> None:
    table = match().deal_out(random.Random(1))
    assert table.do(None, Settle()) == ()
    table.do(0, c.Ready(deal=1))
    assert table.do(None, Settle()) == ()
    # Who lost the connection a moment ago is not in the log yet.
    table.online -= {1}
    assert table.do(None, Settle())
    assert table.phase() == "playing"
    assert table.do(None, Settle()) == ()


def test_with_nobody_there_the_next_deal_waits() -> None:
    table = match().deal_out(random.Random(1))
    table.online = frozenset()
    assert table.do(None, Settle()) == ()


def test_a_seat_that_is_played_for_is_not_waited_for() -> None:
    table = match().deal_out(random.Random(1))
    table.do(0, c.StandIn(seat=1))
    table.do(0, c.Ready(deal=1))
    assert table.phase() == "playing"

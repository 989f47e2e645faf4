"""Clocks, absence and the server's turns, on time that is moved by hand."""

from itertools import pairwise

from scopa_protocol import commands as c
from scopa_protocol.events import Away, Back, Played, StoodIn
from scopa_protocol.frames import Update
from support.house import Guest, House


def phase(guest: Guest) -> str:
    """The phase that a guest sees."""
    return guest.view.phase


def heard(guest: Guest, kind: type) -> list[object]:
    """Every event of a kind that a guest was told."""
    guest.read()
    updates = [frame for frame in guest.frames if isinstance(frame, Update)]
    return [event for update in updates for event in update.events if isinstance(event, kind)]


async def absent(house: House, **settings: object) -> tuple[list[Guest], Guest, int]:
    """A table where the seat to play has lost its connection; who watches it, and the seat."""
    guests = await house.table(settings=dict(settings))
    seat = guests[0].view.to_play
    assert seat is not None
    await guests[seat].drop()
    return guests, guests[(seat + 1) % 4], seat


async def test_absence_is_logged_after_a_while() -> None:
    house = House()
    guests = await house.table()
    seat = guests[0].view.to_play or 0
    other = (seat + 1) % 4
    await house.pass_time(20)
    await guests[other].drop()
    await house.pass_time(4)
    assert not guests[seat].view.seats[other].away
    await house.pass_time(2)
    assert heard(guests[seat], Away) == [Away(seat=other)]
    assert guests[seat].view.seats[other].away
    await house.resume(guests[seat].code, other)
    assert heard(guests[seat], Back) == [Back(seat=other)]


async def test_an_absent_seat_is_played_by_a_stand_in() -> None:
    house = House()
    guests, witness, seat = await absent(house, absent_seconds=30)
    clock = witness.view.clock
    assert clock is not None
    assert (clock.kind, clock.left_ms) == ("absent", 30_000)
    await house.pass_time(29)
    assert witness.view.turn == 1
    await house.pass_time(2)
    assert heard(witness, StoodIn) == [StoodIn(seat=seat)]
    played = heard(witness, Played)
    assert len(played) == 1
    assert isinstance(played[0], Played)
    assert played[0].auto
    assert witness.view.to_play == (seat + 1) % 4
    assert witness.view.seats[seat].stand_in
    back = await house.resume(guests[0].code, seat)
    assert not back.view.seats[seat].stand_in


async def test_absence_for_ever_waits_for_ever() -> None:
    house = House()
    _, witness, _ = await absent(house, absent_seconds=0)
    await house.pass_time(600)
    assert witness.view.turn == 1
    assert witness.view.clock is None


async def test_a_turn_has_its_time() -> None:
    house = House()
    guests = await house.table(settings={"turn_seconds": 20, "pace_ms": 0})
    seat = guests[0].view.to_play or 0
    await house.pass_time(12)
    await guests[0].do(c.Configure(passcode="bastoni"))
    await house.pass_time(7)
    assert guests[0].view.turn == 1
    await house.pass_time(2)
    assert guests[0].view.turn == 2
    assert guests[0].view.seats[seat].stand_in
    await guests[seat].do(c.Unpause())
    assert not guests[0].view.seats[seat].stand_in


async def test_a_pause_stops_the_clock() -> None:
    house = House()
    guests = await house.table(settings={"turn_seconds": 20})
    await house.pass_time(15)
    await guests[1].do(c.Pause())
    stopped = guests[0].view
    await house.pass_time(300)
    assert (stopped.clock, guests[0].view.turn) == (None, 1)
    await guests[2].do(c.Unpause())
    clock = guests[0].view.clock
    assert clock is not None
    assert clock.left_ms == 5000
    await house.pass_time(7)
    assert guests[0].view.turn > 1


async def test_a_new_limit_counts_from_now() -> None:
    house = House()
    guests = await house.table()
    await house.pass_time(500)
    await guests[0].do(c.Configure(settings={"turn_seconds": 10}))
    clock = guests[0].view.clock
    assert clock is not None
    assert clock.left_ms == 10_000


async def test_no_clock_runs_out_just_after_a_load() -> None:
    house = House()
    guests = await house.table(settings={"turn_seconds": 10})
    seat = guests[0].view.to_play or 0
    await house.pass_time(9)
    for guest in guests:
        await guest.drop()
    await house.pass_time(60)
    assert len(house.rooms) == 0
    again = await house.resume(guests[0].code, seat)
    clock = again.view.clock
    assert clock is not None
    assert clock.left_ms == 10_000
    await house.pass_time(9)
    assert again.view.turn == 1
    await house.pass_time(2)
    assert again.view.turn > 1


async def test_time_does_not_run_while_nobody_is_there() -> None:
    house = House()
    guests = await house.table(settings={"turn_seconds": 600})
    seat = guests[0].view.to_play or 0
    await house.pass_time(100)
    for guest in guests:
        await guest.drop()
    await house.pass_time(400)
    again = await house.resume(guests[0].code, seat)
    clock = again.view.clock
    assert clock is not None
    assert 485_000 <= clock.left_ms <= 500_000


async def test_bots_play_at_their_pace() -> None:
    house = House()
    host = await house.host(settings={"pace_ms": 2000})
    for seat in (1, 2, 3):
        await host.do(c.SeatBot(seat=seat))
    await host.do(c.Start())
    turns = [host.view.turn]
    for _ in range(8):
        await house.pass_time(1)
        turns.append(host.view.turn)
    steps = [after - before for before, after in pairwise(turns)]
    assert max(steps, default=0) <= 1
    assert host.view.to_play == 0


async def test_bots_without_pace_play_until_a_person_must() -> None:
    house = House()
    host = await house.host(settings={"pace_ms": 0})
    for seat in (1, 2, 3):
        await host.do(c.SeatBot(seat=seat))
    await host.do(c.Start())
    await house.quiet()
    assert host.view.to_play == 0


async def test_the_next_deal_comes_by_itself() -> None:
    house = House()
    guests = await house.table(
        settings={"pace_ms": 0, "turn_seconds": 5, "next_deal_seconds": 15}, target=101
    )
    for _ in range(200):
        if phase(guests[0]) == "deal_over":
            break
        await house.pass_time(1)
    clock = guests[0].view.clock
    assert clock is not None
    assert clock.kind == "next_deal"
    deal = guests[0].view.deal
    await house.pass_time(16)
    assert guests[0].view.deal == deal + 1


async def test_those_who_are_here_need_not_wait_for_those_who_are_not() -> None:
    house = House()
    guests = await house.table(
        settings={"pace_ms": 0, "turn_seconds": 5, "next_deal_seconds": 0}, target=101
    )
    for _ in range(200):
        if phase(guests[0]) == "deal_over":
            break
        await house.pass_time(1)
    for guest in guests:
        await guest.do(c.Unpause())
    for guest in guests[:3]:
        await guest.do(c.Ready(deal=guest.view.deal))
    assert phase(guests[0]) == "deal_over"
    await guests[3].drop()
    assert phase(guests[0]) == "playing"


async def test_a_room_just_opened_is_no_room_that_was_loaded() -> None:
    house = House()
    guests = await house.table(settings={"turn_seconds": 5, "pace_ms": 0})
    await house.pass_time(4)
    assert guests[0].view.turn == 1
    await house.pass_time(2)
    assert guests[0].view.turn > 1


async def test_who_waits_for_cards_can_be_away_too() -> None:
    house = House()
    guests = await house.table()
    await guests[1].do(c.Leave())
    newcomer = await house.enter(c.Join(room=guests[0].code, name="Nina", seat=1, token="n" * 30))
    await house.pass_time(20)
    await newcomer.drop()
    await house.pass_time(6)
    assert heard(guests[0], Away) == [Away(seat=1)]

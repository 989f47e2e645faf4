"""A live table: what people are sent, in which order, and what never gets lost."""

import random

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codes import CloseCode
from scopa_protocol.events import Played, Presence, SeatLeft
from scopa_protocol.frames import Error, Joined, Update
from support.house import House, legal, on_turn
from support.tables import NAMES


async def test_four_people_play_a_match() -> None:
    house = House()
    guests = await house.table(target=5)
    chance = random.Random(1)
    while guests[0].view.phase != "match_over":
        if guests[0].view.phase == "playing":
            mover = on_turn(guests)
            play = legal(mover, chance)
            await mover.do(play)
            for guest in guests:
                assert guest.view.recent[-1].card == play.card
        else:
            for guest in guests:
                await guest.do(c.Ready(deal=guest.view.deal))
        assert len({guest.view.seq for guest in guests}) == 1
    assert guests[0].view.winner is not None


async def test_nothing_is_told_before_it_is_stored() -> None:
    house = House()
    guests = await house.table()
    mover = on_turn(guests)
    play = legal(mover, random.Random(1))
    for guest in guests:
        guest.read()
    house.journal.gate.clear()
    assert await mover.do(play) == []
    assert all(guest.read() == [] for guest in guests)
    house.journal.gate.set()
    await house.quiet()
    for guest in guests:
        played = [event for event in guest.latest(Update).events if isinstance(event, Played)]
        assert len(played) == 1


async def test_a_store_that_is_down_loses_nothing() -> None:
    house = House()
    guests = await house.table()
    mover = on_turn(guests)
    play = legal(mover, random.Random(1))
    house.journal.down = True
    assert await mover.refused(play) == "storage_unavailable"
    assert mover.view.turn == 1
    house.journal.down = False
    await mover.do(play)
    assert mover.view.turn == 2


async def test_a_store_that_is_down_is_not_asked_in_a_hurry() -> None:
    house = House()
    guests = await house.table(settings={"turn_seconds": 10})
    before = house.journal.asked
    house.journal.down = True
    await house.pass_time(30)
    assert 10 <= house.journal.asked - before <= 25
    assert guests[0].view.turn == 1
    house.journal.down = False
    await house.pass_time(3)
    assert guests[0].view.turn > 1


async def test_another_writer_wins_the_race() -> None:
    """Two processes on one log: the loser reads what it missed and decides again."""
    here = House()
    guests = await here.table()
    there = House(here.journal, seed=99)
    other = await there.resume(guests[0].code, 1)
    log = guests[0].view.log
    await other.do(c.Pause())
    assert guests[0].view.paused_by is None
    mover = on_turn(guests)
    assert await mover.refused(legal(mover, random.Random(1))) == "paused"
    assert all(guest.view.paused_by == 1 for guest in guests)
    assert guests[0].view.log == log
    await guests[0].do(c.Unpause())
    assert guests[0].view.paused_by is None


async def test_who_loses_a_race_acts_for_the_seat_that_is_its_own_by_now() -> None:
    here = House()
    host = await here.host()
    guest = await here.join(host.code, 1)
    there = House(here.journal, seed=99)
    other = await there.resume(host.code, 0)
    await other.do(c.Arrange(names=[None, NAMES[0], NAMES[1], None]))
    await guest.do(c.Leave())
    assert [seat.name for seat in host.view.seats] == [None, NAMES[0], None, None]
    assert (host.closing, host.view.you) == (None, 1)
    await host.do(c.SeatBot(seat=0))
    assert host.view.seats[0].kind == "bot"


async def test_who_lost_its_seat_in_a_race_does_nothing_with_it() -> None:
    here = House()
    host = await here.host(players=4)
    guest = await here.join(host.code, 1)
    there = House(here.journal, seed=99)
    other = await there.resume(host.code, 0)
    await other.do(c.Unseat(seat=1, name=NAMES[1]))
    await there.enter(c.Join(room=host.code, name="Nina", seat=1, token="n" * 22))
    await guest.do(c.Sit(seat=3))
    assert [seat.name for seat in host.view.seats] == [NAMES[0], "Nina", None, None]
    closing = guest.closing
    assert closing is not None
    assert closing.code == 4001


async def test_a_store_that_forgot_gives_a_new_log() -> None:
    house = House()
    guests = await house.table()
    before = guests[0].view
    mover = on_turn(guests)
    await mover.do(legal(mover, random.Random(1)))
    house.journal.logs[before.room].pop()
    await guests[0].do(c.Pause())
    after = guests[0].view
    assert after.log != before.log
    assert after.turn == 1
    assert after.paused_by == 0


async def test_a_room_that_the_store_lost_is_closed_for_good() -> None:
    house = House()
    guests = await house.table()
    await house.journal.delete(guests[0].code)
    assert await guests[0].refused(c.Pause(id=1)) == "unknown_room"
    for guest in guests:
        assert guest.closing is not None
        assert guest.closing.code == CloseCode.ROOM_CLOSED
        assert not guest.closing.bye.retry
        assert guest.closing.bye.message == "The server no longer has this room."
    assert len(house.rooms) == 0


async def test_a_slow_reader_gets_one_view_with_all_that_happened() -> None:
    house = House()
    guests = await house.table()
    chance = random.Random(1)
    slow = guests[(guests[0].view.to_play or 0) - 1]
    slow.read()
    witness = on_turn(guests)
    for _ in range(3):
        mover = guests[witness.view.to_play or 0]
        await mover.do(legal(mover, chance))
    frames = slow.read()
    assert len(frames) == 1
    assert isinstance(frames[0], Update)
    assert [type(event) for event in frames[0].events] == [Played] * 3
    assert frames[0].view.turn == 4


async def test_commands_sent_together_are_answered_together() -> None:
    house = House()
    host = await house.host()
    host.read()
    for number in (5, 6, 7):
        await house.rooms.ask(host.visitor, c.SeatBot(id=number, seat=number - 4))
    await house.quiet()
    answered = [n for f in host.read() if isinstance(f, Update) for n in f.re or []]
    assert answered == [5, 6, 7]


async def test_everybody_hears_who_comes_and_goes() -> None:
    house = House()
    guests = await house.table()
    guests[0].read()
    await guests[2].drop()
    update = guests[0].latest(Update)
    assert update.events == [Presence(seat=2, online=False)]
    assert not update.view.seats[2].online
    back = await house.resume(guests[0].code, 2)
    assert back.view.hand == guests[2].view.hand
    assert guests[0].latest(Update).events == [Presence(seat=2, online=True)]
    assert guests[0].view.seq == update.seq


async def test_a_seat_on_too_many_connections_keeps_the_newest() -> None:
    house = House()
    host = await house.host()
    more = [await house.resume(host.code, 0) for _ in range(4)]
    assert host.closing is not None
    assert host.closing.code == CloseCode.REPLACED
    assert not host.closing.bye.retry
    assert all(guest.closing is None for guest in more)


async def test_leaving_is_answered_then_closed() -> None:
    house = House()
    guests = await house.table()
    twin = await house.resume(guests[0].code, 3)
    frames = await guests[3].do(c.Leave(id=9))
    update = next(frame for frame in frames if isinstance(frame, Update))
    assert update.re == [9]
    assert update.view.hand is None
    assert guests[3].closing is not None
    assert guests[3].closing.code == CloseCode.LEFT
    assert twin.closing is not None
    assert twin.closing.code == CloseCode.SEAT_LOST
    assert SeatLeft(seat=3, name=NAMES[3]) in guests[0].latest(Update).events
    assert guests[0].view.seats[3].kind == "vacant"


async def test_an_unseated_person_is_closed() -> None:
    house = House()
    host = await house.host()
    guest = await house.join(host.code, 1)
    await host.do(c.Unseat(seat=1, name=NAMES[1]))
    assert guest.closing is not None
    assert guest.closing.code == CloseCode.SEAT_LOST


async def test_a_newcomer_never_sees_the_old_hand() -> None:
    house = House()
    guests = await house.table()
    assert guests[3].view.hand
    await guests[3].do(c.Leave())
    newcomer = await house.enter(c.Join(room=guests[0].code, name="Nuovo", token="n" * 30))
    assert newcomer.view.you == 3
    assert newcomer.view.hand == []
    assert newcomer.view.seats[3].reserved == "Nuovo"


async def test_watchers_see_the_table_and_go_when_watching_ends() -> None:
    house = House()
    host = await house.host(settings={"watchers": "table"})
    watcher = await house.enter(c.Watch(room=host.code, name="Ugo"))
    assert watcher.view.you is None
    assert watcher.view.hand is None
    assert host.view.watchers == ["Ugo"]
    await host.do(c.Configure(settings={"watchers": "none"}))
    assert watcher.closing is not None
    assert watcher.closing.code == CloseCode.REFUSED
    assert host.view.watchers == []


async def test_what_was_said_is_shown_to_who_comes() -> None:
    house = House()
    host = await house.host()
    await host.do(c.Say(text="Buonasera", key="1"))
    guest = await house.join(host.code, 1)
    assert [talk.text for talk in guest.latest(Joined).talk] == ["Buonasera"]


async def test_people_move_with_their_seats() -> None:
    house = House()
    host = await house.host()
    guest = await house.join(host.code, 1)
    await host.do(c.Arrange(names=[NAMES[1], None, NAMES[0], None]))
    assert (host.view.you, guest.view.you) == (2, 0)
    assert host.view.host == 2
    assert await guest.refused(c.Start()) == "not_host"


async def test_a_fault_of_ours_leaves_the_table_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    guests = await house.table()
    with monkeypatch.context() as broken:

        def fault(*_: object) -> None:
            raise ZeroDivisionError

        broken.setattr("scopa_server.live.table.decide", fault)
        assert await guests[0].refused(c.Pause(id=3)) == "internal_error"
    await guests[0].do(c.Pause(id=4))
    assert guests[1].view.paused_by == 0
    assert not any(isinstance(frame, Error) for frame in guests[1].frames)

"""Two processes that show the same room: houses on one store, each with its own people."""

import asyncio
import random

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codes import CloseCode
from scopa_protocol.events import Away, Played, Presence, SeatTaken, WatcherCame, WatcherLeft
from scopa_protocol.frames import Error, Joined, Update
from scopa_server.live import following
from scopa_server.live.gossip import HOLDS_SECONDS, SAY_SECONDS
from scopa_server.room.decide.internal import GoneAway
from scopa_server.room.tokens import token_hash
from support.house import Guest, House, legal
from support.memory_journal import MemoryJournal, meanwhile
from support.tables import NAMES, token


def heard(guest: Guest, kind: type) -> list[object]:
    """Every event of a kind that a guest was told."""
    guest.read()
    updates = [frame for frame in guest.frames if isinstance(frame, Update)]
    return [event for update in updates for event in update.events if isinstance(event, kind)]


def two_houses() -> tuple[House, House]:
    """Two processes on one store."""
    here = House()
    here.journal.is_shared = True
    return here, House(here.journal, seed=1)


async def table(**settings: object) -> tuple[House, House, list[Guest]]:
    """Four people, two through each process, a match begun."""
    here, there = two_houses()
    host = await here.host(settings=dict(settings))
    guests = [host]
    for seat, house in ((1, there), (2, here), (3, there)):
        guests.append(await house.join(host.code, seat))
    await host.do(c.Start())
    return here, there, guests


async def pass_time(seconds: float, *houses: House) -> None:
    """Let time pass in several houses alike."""
    for _ in range(round(seconds)):
        for house in houses:
            await house.pass_time(1)


async def test_everybody_sees_everything_through_either() -> None:
    here, _, guests = await table()
    chance = random.Random(1)
    for turn in range(1, 9):
        mover = guests[guests[0].view.to_play or 0]
        play = legal(mover, chance)
        await mover.do(play)
        await here.quiet()
        assert {guest.view.turn for guest in guests} == {turn + 1}
        for guest in guests:
            assert guest.view.recent[-1].card == play.card
    for guest in guests:
        assert len(heard(guest, Played)) == 8
        assert all(seat.online for seat in guest.view.seats)


async def test_who_sits_down_elsewhere_is_announced() -> None:
    here, there = two_houses()
    host = await here.host()
    await there.join(host.code, 2)
    assert [event.seat for event in heard(host, SeatTaken) if isinstance(event, SeatTaken)] == [2]
    assert Presence(seat=2, online=True) in heard(host, Presence)


async def test_a_lost_connection_elsewhere_is_announced_and_logged() -> None:
    here, there, guests = await table()
    await pass_time(12, here, there)
    await guests[3].drop()
    await here.quiet()
    assert Presence(seat=3, online=False) in heard(guests[0], Presence)
    await pass_time(8, here, there)
    assert guests[0].view.seats[3].away
    assert len(heard(guests[0], Away)) == 1


async def test_nobody_elsewhere_is_taken_for_absent() -> None:
    here, there, guests = await table(absent_seconds=5)
    await pass_time(60, here, there)
    assert guests[0].view.turn == 1
    assert not any(seat.away or seat.stand_in for seat in guests[0].view.seats)


async def test_a_process_that_died_is_forgotten() -> None:
    here, there, guests = await table()
    await pass_time(12, here, there)
    here.journal.notes[guests[0].code] = {
        process: note
        for process, note in here.journal.notes[guests[0].code].items()
        if process == here.rooms.process
    }
    await pass_time(SAY_SECONDS + 7, here)
    assert not guests[0].view.seats[1].online
    assert guests[0].view.seats[3].away


@pytest.mark.parametrize(
    "words",
    [b"nonsense", b'{"tokens":["\xff"]}', b'{"held":{}}', b'{"later":' + b"[" * 100_000],
    ids=["nonsense", "bytes", "shape", "depth"],
)
async def test_a_note_that_nobody_can_read_hides_no_other(words: bytes) -> None:
    here, there = two_houses()
    host = await here.host()
    here.journal.notes[host.code]["unknown"] = words
    other = await there.join(host.code, 1)
    await pass_time(SAY_SECONDS + 1, here, there)
    assert host.view.seats[1].online
    assert other.view.seats[0].online
    await other.drop()
    await pass_time(SAY_SECONDS + 1, here, there)
    assert not host.view.seats[1].online


async def test_one_process_plays_for_all() -> None:
    here, there = two_houses()
    host = await here.host(settings={"pace_ms": 800})
    guest = await there.join(host.code, 1)
    for seat in (2, 3):
        await host.do(c.SeatBot(seat=seat))
    await host.do(c.Start())
    before = here.journal.batches
    for _ in range(30):
        await pass_time(1, here, there)
        if guest.view.to_play in {0, 1}:
            break
    assert guest.view.to_play in {0, 1}
    assert here.journal.batches - before == guest.view.turn - 1


async def test_a_wrong_absence_is_answered() -> None:
    here, there, guests = await table()
    live = guests[0].visitor.room
    assert live is not None
    live._table._gossip._others = {}
    await live._table.do(GoneAway(token_hash(token(1))))
    await here.quiet()
    await pass_time(1, here, there)
    assert not guests[0].view.seats[1].away


async def test_watchers_elsewhere_are_named() -> None:
    here, there = two_houses()
    host = await here.host(settings={"watchers": "table"})
    watcher = await there.enter(c.Watch(room=host.code, name="Ugo"))
    assert host.view.watchers == ["Ugo"]
    assert heard(host, WatcherCame) == [WatcherCame(name="Ugo")]
    await watcher.drop()
    await here.quiet()
    assert host.view.watchers == []
    assert heard(host, WatcherLeft) == [WatcherLeft(name="Ugo")]


async def test_two_take_one_seat_through_two_processes() -> None:
    here, there = two_houses()
    host = await here.host()
    first = await here.join(host.code, 1)
    second = await there.enter(c.Join(room=host.code, name="Bice", token="b" * 30))
    assert (first.view.you, second.view.you) == (1, 2)
    assert host.view.seats[2].name == "Bice"


async def test_who_comes_back_while_seats_change_elsewhere_sits_where_the_log_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here, there = two_houses()
    host = await here.host()
    for seat in (1, 2):
        await (await there.join(host.code, seat)).drop()
    await pass_time(12, here, there)
    assert [seat.away for seat in host.view.seats] == [False, True, True, False]
    order: list[str | None] = [NAMES[0], NAMES[2], NAMES[1], None]
    meanwhile(monkeypatch, here.journal, lambda: host.do(c.Arrange(names=order)))
    back = await there.resume(host.code, 1)
    assert (back.latest(Joined).seat, back.view.you) == (2, 2)
    assert [seat.away for seat in back.view.seats] == [False, True, False, False]


async def test_who_loses_a_seat_elsewhere_while_coming_back_sees_nobody_s_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here, there, guests = await table(absent_seconds=0)
    await guests[1].drop()
    await pass_time(16, here, there)
    assert guests[0].view.seats[1].away
    meanwhile(monkeypatch, here.journal, lambda: guests[0].do(c.Unseat(seat=1, name=NAMES[1])))
    back = await there.resume(guests[0].code, 1)
    answer = back.latest(Error)
    assert answer.code == "bad_token"
    assert [frame for frame in back.frames if isinstance(frame, Joined)] == []


async def test_gossip_that_fails_leaves_the_table_alone() -> None:
    journal = MemoryJournal()
    journal.is_shared = True
    house = House(journal)
    guests = await house.table()
    journal.down = True
    await house.pass_time(12)
    journal.down = False
    await guests[0].do(c.Pause())
    assert all(guest.view.paused_by == 0 for guest in guests)


async def test_a_room_that_is_gone_from_the_store_is_closed_though_nobody_acts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0)
    here, _ = two_houses()
    host = await here.host()
    await here.journal.delete(host.code)
    await here.quiet()
    assert host.closing is not None
    assert host.closing.code == CloseCode.ROOM_CLOSED
    await here.rooms.close()


async def test_a_fault_ends_no_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(rooms: object) -> dict[str, tuple[int, str]]:
        failed.set()
        raise ValueError("not what a store says")

    failed = asyncio.Event()
    monkeypatch.setattr(following, "POLL_SECONDS", 0)
    here, _ = two_houses()
    host = await here.host()
    with monkeypatch.context() as patched:
        patched.setattr(here.journal, "tops", fail)
        await failed.wait()
    await here.journal.delete(host.code)
    await here.quiet()
    assert host.closing is not None
    assert host.closing.code == CloseCode.ROOM_CLOSED
    await here.rooms.close()


async def test_who_can_not_reach_the_store_for_long_shows_nobody_what_may_be_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0)
    here, there = two_houses()
    host = await here.host()
    guest = await there.join(host.code, 1)
    here.journal.down = True
    await pass_time(HOLDS_SECONDS - 2, here)
    assert host.visitor.outbox.closing is None
    await pass_time(2, here)
    assert host.closing is not None
    assert (host.closing.code, host.closing.bye.retry) == (CloseCode.RESTART, True)
    assert host.closing.bye.code == "store_unreachable"
    assert guest.closing is None
    here.journal.down = False
    await host.drop()
    assert (await here.resume(host.code, 0)).view.you == 0
    for house in (here, there):
        await house.rooms.close()


@pytest.mark.parametrize("seconds", range(1, SAY_SECONDS + 1))
async def test_a_card_that_comes_as_an_alarm_rings_silences_no_later_one(
    seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House()
    house.journal.is_shared = True
    guests = await house.table()
    await house.pass_time(12)
    # What is said now is said anew later than the alarm was set for.
    await house.resume(guests[0].code, 0)
    await house.pass_time(seconds - 1)
    house.time.advance(1)
    mover = guests[guests[0].view.to_play or 0]
    await house.rooms.ask(mover.visitor, legal(mover, random.Random(1)))
    await house.quiet()
    assert mover.view.turn == 2
    gossip, said = house.journal.gossip, list[bytes]()

    async def noted(room: str, process: str, note: bytes, seconds: int) -> dict[str, bytes]:
        said.append(note)
        return await gossip(room, process, note, seconds)

    monkeypatch.setattr(house.journal, "gossip", noted)
    await house.pass_time(SAY_SECONDS + 1)
    assert said

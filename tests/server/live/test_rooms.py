"""Finding, opening and letting go of rooms."""

import asyncio
import gc
import weakref
from typing import Any

import pytest

from scopa_protocol import commands as c
from scopa_protocol.frames import Joined
from scopa_protocol.invite import CODE_ALPHABET
from scopa_server.bounds import Bounds
from scopa_server.journal.interface import Snapshot
from scopa_server.live import ledger
from scopa_server.live.ledger import Lifetimes
from scopa_server.room.refused import Refused
from support.house import Guest, House
from support.memory_journal import MemoryJournal
from support.tables import token

PATIENCE = 20


def create(**more: Any) -> c.Create:
    """A command that opens a room."""
    return c.Create(**{"name": "Anna", "rules": {"variant": "scopone"}, "token": token(0), **more})


async def test_create_sent_again_finds_its_room() -> None:
    house = House()
    first, second = Guest(house), Guest(house)
    await asyncio.gather(
        house.rooms.create(first.visitor, create()),
        house.rooms.create(second.visitor, create()),
    )
    await house.quiet()
    assert first.code == second.code
    assert len(house.journal.logs) == 1
    assert first.latest(Joined).token is None


async def test_create_sent_again_for_a_room_whose_log_is_lost_is_refused() -> None:
    house = House()
    host = await house.host()
    await host.drop()
    await house.pass_time(12)
    del house.journal.logs[host.code]
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Refused) as refusal:
            await house.rooms.create(Guest(house).visitor, create())
    assert refusal.value.code == "unknown_room"


async def test_the_server_makes_a_token_for_who_brings_none() -> None:
    house = House()
    guest = Guest(house)
    await house.rooms.create(guest.visitor, create(token=None))
    await house.quiet()
    made = guest.latest(Joined).token
    assert made is not None
    again = await house.enter(c.Resume(room=guest.code, token=made))
    assert again.view.you == 0
    assert again.latest(Joined).token is None


async def test_a_room_left_opens_another() -> None:
    house = House()
    guest = await house.host()
    code = guest.code
    await guest.do(c.Leave())
    again = await house.host()
    assert again.code != code


async def test_join_sent_again_resumes() -> None:
    house = House()
    host = await house.host()
    first = await house.join(host.code, 2)
    again = await house.join(host.code, 1)
    twice = await house.enter(c.Join(room=host.code, name="Altro", token=token(2)))
    assert (first.view.you, again.view.you, twice.view.you) == (2, 1, 2)
    assert twice.view.seats[2].name == "Carla"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (c.Join(room="ABCDEFGH", name="Ugo"), "unknown_room"),
        (c.Join(room="not a code", name="Ugo"), "unknown_room"),
        (c.Watch(room="ABCDEFGH", name="Ugo"), "unknown_room"),
        (c.Resume(room="ABCDEFGH", token="t" * 30), "bad_token"),
        (c.Join(room="ABCDEFGH", name="Ugo", token="short"), "bad_token"),
    ],
)
async def test_what_is_not_there(command: c.Join | c.Watch | c.Resume, code: str) -> None:
    house = House()
    with pytest.raises(Refused) as refused:
        await house.enter(command)
    assert refused.value.code == code


async def test_a_passcode_keeps_strangers_out() -> None:
    house = House()
    host = Guest(house)
    await house.rooms.create(host.visitor, create(passcode="bastoni"))
    await house.quiet()
    for passcode in (None, "", "coppe"):
        with pytest.raises(Refused) as refused:
            await house.enter(c.Join(room=host.code, name="Ugo", passcode=passcode))
        assert refused.value.code == "wrong_passcode"
    guest = await house.enter(
        c.Join(room=host.code, name="Ugo", passcode="bastoni", token=token(1))
    )
    assert guest.view.you == 1
    assert (await house.enter(c.Resume(room=host.code, token=token(1)))).view.you == 1
    look = await house.rooms.look(host.visitor, c.Look(room=host.code.lower(), passcode="bastoni"))
    assert look.passcode


@pytest.mark.parametrize("before", [None, "coppe"])
async def test_a_passcode_sent_twice_changes_once(before: str | None) -> None:
    house = House()
    host = Guest(house)
    await house.rooms.create(host.visitor, create(passcode=before))
    wish = c.Configure(passcode="bastoni")
    await asyncio.gather(*(house.rooms.ask(host.visitor, wish) for _ in range(2)))
    await house.quiet()
    assert host.view.seq == 2
    await host.do(wish)
    assert host.view.seq == 2
    assert (
        await house.rooms.look(host.visitor, c.Look(room=host.code, passcode="bastoni"))
    ).passcode


async def test_a_full_server_says_so() -> None:
    house = House(bounds=Bounds(max_rooms=1))
    await house.host()
    with pytest.raises(Refused) as refused:
        await house.rooms.create(Guest(house).visitor, create(token=token(5)))
    assert refused.value.code == "server_full"


async def test_a_room_without_people_leaves_memory_and_comes_back() -> None:
    house = House()
    host = await house.host()
    assert host.visitor.room is not None
    code, live = host.code, weakref.ref(host.visitor.room)
    await host.do(c.SeatBot(seat=1))
    await host.drop()
    host.visitor.room = None
    await house.pass_time(12)
    assert len(house.rooms) == 0
    gc.collect()
    assert live() is None
    assert house.journal.snapshots[code].number == house.journal.logs[code][-1].number
    again = await house.resume(code, 0)
    assert again.view.host == 0


async def test_a_snapshot_holds_no_card_up_and_the_last_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    keep, may_keep = house.journal.snapshot, asyncio.Event()
    kept: list[int] = []

    async def keep_late(room: str, snapshot: Snapshot) -> None:
        await may_keep.wait()
        kept.append(snapshot.number)
        await keep(room, snapshot)

    monkeypatch.setattr(ledger, "SNAPSHOT_EVERY", 2)
    monkeypatch.setattr(house.journal, "snapshot", keep_late)
    host = await house.host()
    for seat in (1, 2, 3):
        await host.do(c.SeatBot(seat=seat))
        assert host.view.seats[seat].kind == "bot"
    await host.drop()
    await house.pass_time(12)
    assert len(house.rooms) == 1
    may_keep.set()
    await house.quiet()
    assert len(house.rooms) == 0
    assert kept == sorted(set(kept))
    assert kept[-1] == len(house.journal.logs[host.code])


async def test_many_rooms_leave_nothing_behind() -> None:
    house = House(bounds=Bounds(max_rooms_per_address=500, max_new_rooms_per_hour=500))
    before = len(asyncio.all_tasks())
    for number in range(200):
        guest = Guest(house)
        await house.rooms.create(guest.visitor, create(token=token(number)))
        await house.quiet()
        await guest.drop()
    await house.pass_time(12)
    assert len(house.rooms) == 0
    assert len(asyncio.all_tasks()) == before


async def test_a_cancelled_visitor_does_not_undo_a_join() -> None:
    house = House()
    host = await house.host()
    house.journal.gate.clear()
    guest = Guest(house)
    joining = asyncio.create_task(
        house.rooms.enter(guest.visitor, c.Join(room=host.code, name="Ugo", token=token(1)))
    )
    await house.quiet()
    joining.cancel()
    guest.visitor.gone = True
    house.journal.gate.set()
    await house.quiet()
    assert host.view.seats[1].name == "Ugo"
    assert not host.view.seats[1].online


async def test_closing_lets_what_is_under_way_finish() -> None:
    house = House()
    host = await house.host()
    house.journal.gate.clear()
    await house.rooms.ask(host.visitor, c.SeatBot(seat=1))
    await house.quiet()
    closing = asyncio.create_task(house.rooms.close())
    await house.quiet()
    assert not closing.done()
    house.journal.gate.set()
    await closing
    assert len(house.journal.logs[host.code]) == 2


@pytest.mark.parametrize(("lifetime", "apart"), [(6, 3), (24 * 3600, 61)])
async def test_a_room_that_is_shown_outlives_its_time(lifetime: int, apart: int) -> None:
    house = House(lifetimes=Lifetimes(room=lifetime))
    code = (await house.host()).code
    for _ in range(4):
        before = house.journal.touched.get(code, 0)
        await house.pass_time(apart)
        assert house.journal.touched[code] > before


def few_codes(monkeypatch: pytest.MonkeyPatch, count: int) -> list[str]:
    """Let there be so few codes that rooms compete for them; every token begins at the first."""
    codes = [f"ABCDEFG{letter}" for letter in CODE_ALPHABET[:count]]
    monkeypatch.setattr(
        "scopa_server.live.rooms.room_code", lambda _, attempt: codes[attempt % count]
    )
    return codes


async def test_a_code_is_given_once_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = few_codes(monkeypatch, 6)
    journal = MemoryJournal()
    journal.is_shared = True
    houses = [House(journal), House(journal, seed=1)]
    guests = [Guest(houses[number % 2]) for number in range(6)]
    await asyncio.gather(
        *(
            guest.house.rooms.create(guest.visitor, create(token=token(number)))
            for number, guest in enumerate(guests)
        )
    )
    await houses[0].quiet()
    assert sorted(guest.code for guest in guests) == codes
    assert all(guest.view.you == 0 for guest in guests)
    with pytest.raises(Refused) as refused:
        await houses[0].rooms.create(Guest(houses[0]).visitor, create(token=token(6)))
    assert refused.value.code == "server_full"


async def test_a_code_that_comes_again_opens_nothing_old(monkeypatch: pytest.MonkeyPatch) -> None:
    few_codes(monkeypatch, 1)
    house = House()
    first = Guest(house)
    await house.rooms.create(first.visitor, create(passcode="coppe"))
    await house.quiet()
    await first.drop()
    await house.pass_time(12)
    await house.journal.delete(first.code)
    second = Guest(house)
    await house.rooms.create(second.visitor, create(token=token(1), name="Bice"))
    await house.quiet()
    assert second.code == first.code
    with pytest.raises(Refused) as refused:
        await house.resume(first.code, 0)
    assert refused.value.code == "bad_token"
    look = await house.rooms.look(Guest(house).visitor, c.Look(room=first.code))
    assert not look.passcode
    assert second.view.seats[0].name == "Bice"


async def test_a_room_whose_header_is_lost_is_found_by_its_log() -> None:
    house = House()
    host = await house.host()
    await host.do(c.Configure(passcode="briscola"))
    del house.journal.headers[host.code]
    assert (await house.resume(host.code, 0)).view.you == 0
    with pytest.raises(Refused, match="wrong_passcode"):
        await house.join(host.code, 1)

"""Opening rooms: how many, how fast, and by whom."""

import asyncio
from typing import Any

import pytest

from scopa_protocol import commands as c
from scopa_server.bounds import SPARABLE, Bounds
from scopa_server.live import hosting
from scopa_server.live.hosting import Hosting
from scopa_server.metrics import Metrics
from scopa_server.room.refused import Refused
from support.fake_time import FakeTime
from support.house import Guest, House
from support.tables import NAMES, token


async def opened(
    house: House, number: int, address: str = "a", *, local: bool = False
) -> Guest | str:
    """Somebody opens a room; the guest, or the code of the refusal."""
    guest = Guest(house)
    guest.visitor.address, guest.visitor.local = address, local
    create = c.Create(name="Anna", rules={"variant": "scopa"}, token=token(number))
    try:
        await house.rooms.create(guest.visitor, create)
    except Refused as refusal:
        return refusal.code.value
    await house.quiet()
    return guest


async def test_a_room_counts_for_its_address_while_it_is_in_use() -> None:
    house = House(bounds=Bounds(max_rooms_per_address=2))
    for number in (1, 2):
        assert isinstance(await opened(house, number), Guest)
    assert await opened(house, 3) == "server_full"
    assert isinstance(await opened(house, 3, "b"), Guest)
    # The same command again finds its room, and opens none.
    assert isinstance(await opened(house, 1), Guest)


async def test_a_room_that_nobody_uses_counts_no_more() -> None:
    house = House(bounds=Bounds(max_rooms_per_address=1))
    first = await opened(house, 1)
    assert isinstance(first, Guest)
    await first.drop()
    assert await opened(house, 2) == "server_full"
    await house.pass_time(30)
    assert isinstance(await opened(house, 2), Guest)


@pytest.mark.parametrize("most", [{"max_rooms": 2}, {"max_rooms_per_address": 2}])
async def test_many_rooms_at_once_are_no_more_than_one_by_one(most: dict[str, Any]) -> None:
    house = House(bounds=Bounds(**most))
    house.journal.gate.clear()
    opening = [asyncio.create_task(opened(house, number)) for number in range(5)]
    await house.quiet()
    house.journal.gate.set()
    outcomes = await asyncio.gather(*opening)
    assert outcomes.count("server_full") == 3
    assert len(house.journal.logs) == 2


async def test_a_room_that_could_not_be_stored_counts_for_nobody() -> None:
    house = House(bounds=Bounds(max_rooms=1))
    house.journal.down = True
    assert await opened(house, 1) == "storage_unavailable"
    house.journal.down = False
    assert isinstance(await opened(house, 2), Guest)


async def test_new_rooms_come_at_a_pace() -> None:
    house = House(bounds=Bounds(max_new_rooms_per_hour=2))
    for number in (1, 2):
        assert isinstance(await opened(house, number), Guest)
    assert await opened(house, 3) == "too_fast"
    assert isinstance(await opened(house, 3, "b"), Guest)
    house.time.advance(1800)
    assert isinstance(await opened(house, 4), Guest)
    assert await opened(house, 5) == "too_fast"


async def test_the_own_machine_opens_as_many_rooms_as_there_may_be() -> None:
    bounds = Bounds(max_rooms=8, max_rooms_per_address=1, max_new_rooms_per_hour=2, spared=SPARABLE)
    house = House(bounds=bounds)
    for number in range(6):
        assert isinstance(await opened(house, number, local=True), Guest)
    # That costs nobody else anything, not even at the same address.
    assert isinstance(await opened(house, 6), Guest)
    assert await opened(house, 7) == "server_full"
    assert isinstance(await opened(house, 7, local=True), Guest)
    assert await opened(house, 8, local=True) == "server_full"
    assert house.rooms._hosting._opened.keys() == {"a"}


@pytest.mark.parametrize(
    ("limit", "code"),
    [("max_rooms_per_address", "server_full"), ("max_new_rooms_per_hour", "too_fast")],
)
async def test_a_limit_that_is_asked_for_holds_for_the_own_machine(limit: Any, code: str) -> None:
    asked: dict[str, Any] = {limit: 2}
    house = House(bounds=Bounds(**asked, spared=SPARABLE - {limit}))
    for number in (1, 2):
        assert isinstance(await opened(house, number, local=True), Guest)
    assert await opened(house, 3, local=True) == code


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "KEPT", 100)
    time = FakeTime()
    host = Hosting({}, time, Bounds(max_new_rooms_per_hour=1), Metrics())
    for number in range(1000):
        with host.opening(f"ROOM{number}", f"address {number}"):
            pass
        assert len(host._paces) <= 100
    assert len(host._opened) <= 100
    with pytest.raises(Refused), host.opening("ROOM", "address 999"):
        pytest.fail("it was opened")


async def test_a_create_or_join_sent_again_comes_back_whatever_its_address_may_not() -> None:
    house = House(access_key="segreto", bounds=Bounds(max_failures_per_address=1))
    create = c.Create(name="Anna", rules={"variant": "scopa"}, token=token(0), key="segreto")
    guests = [Guest(house) for _ in range(4)]
    await house.rooms.create(guests[0].visitor, create)
    await house.quiet()
    join = c.Join(room=guests[0].code, name="Bruno", token=token(1))
    await house.enter(join)
    wrong = c.Create(name="Eva", rules={"variant": "scopa"}, token=token(2), key="segret")
    codes = list[str]()
    for _ in range(2):
        with pytest.raises(Refused) as refusal:
            await house.rooms.create(guests[1].visitor, wrong)
        codes.append(refusal.value.code.value)
    assert codes == ["bad_key", "too_fast"]
    await house.rooms.create(guests[2].visitor, create)
    await house.rooms.enter(guests[3].visitor, join)
    await house.quiet()
    assert [guest.view.you for guest in guests[2:]] == [0, 1]


async def test_a_name_that_was_taken_in_comes_back_to_a_server_that_takes_shorter_ones() -> None:
    before = House()
    host = await before.host()
    join = c.Join(room=host.code, name="Bruno", token=token(1))
    await before.enter(join)
    after = House(before.journal, bounds=Bounds(max_name_length=3))
    assert (await after.enter(join)).view.you == 1
    create = c.Create(name=NAMES[0], rules={"variant": "scopa"}, token=token(0))
    again = Guest(after)
    await after.rooms.create(again.visitor, create)
    await after.quiet()
    assert again.view.you == 0
    with pytest.raises(Refused, match="bad_name"):
        await after.enter(c.Join(room=host.code, name="Carla", token=token(2)))

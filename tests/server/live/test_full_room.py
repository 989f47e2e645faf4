"""How far a room's log may grow, and who never notices."""

import random

import pytest

from scopa_protocol import commands as c
from scopa_protocol.frames import Error
from scopa_server.bounds import Bounds
from scopa_server.live import growth
from scopa_server.metrics import Limit
from support.growing import (
    PACE_1,
    PACE_2,
    PACE_3,
    commits,
    enter,
    limited,
    next_move,
    outcomes,
    play_on,
    with_bots,
)
from support.house import House
from support.memory_journal import MemoryJournal, meanwhile
from support.tables import token

# A room, for ever


def full(journal: MemoryJournal | None = None) -> House:
    """A process whose rooms see thirty changes."""
    return House(journal, bounds=Bounds(max_changes_per_room=30))


async def test_a_full_room_begins_nothing_and_plays_its_match_to_the_end() -> None:
    house = full()
    host = await with_bots(house, players=4, talk="always")
    chance = random.Random(1)
    while commits(house, host) < 30:
        await outcomes(host, *filter(None, [next_move(host, chance)]))
    begun = [PACE_1, c.Pause(), c.Say(text="ciao")]
    before = commits(house, host)
    assert await outcomes(host, *begun) == ["room_full"] * 3
    late = await enter(house, c.Join(room=host.code, name="Dino", token=token(7)), "elsewhere")
    assert late.latest(Error).code == "room_full"
    assert commits(house, host) == before
    # Whom the others wait for can be helped, or sent away.
    assert await outcomes(host, c.Unseat(seat=1, name=host.view.seats[1].name or "")) == ["ok"]
    assert set(await play_on(host)) == {"ok"}
    assert host.view.phase == "match_over"
    begun = [c.SeatBot(seat=1), c.Sit(seat=0), c.Unpause()]
    assert await outcomes(host, *begun) == ["room_full", "ok", "ok"]
    assert limited(house, Limit.ROOM_CHANGES)
    assert await outcomes(host, c.Leave()) == ["ok"]


async def test_a_room_is_full_for_every_process_and_after_a_restart() -> None:
    here = full()
    here.journal.is_shared = True
    host = await here.host(variant="scopa", settings={"talk": "always"})
    there = full(here.journal)
    other = await there.join(host.code, 1)
    pause = [PACE_1, PACE_2] * 20
    found = [await outcomes(guest, command) for command in pause for guest in (host, other)]
    assert commits(here, host) == 30
    assert ["room_full"] in found
    assert await outcomes(other, c.Say(text="ciao")) == ["room_full"]
    for guest in (host, other):
        await guest.drop()
    later = full(here.journal)
    again = await later.resume(host.code, 0)
    assert await outcomes(again, PACE_3, c.Say(text="ciao")) == ["room_full"] * 2
    assert await outcomes(again, c.Leave()) == ["ok"]


async def test_a_room_that_another_process_has_just_filled_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = full()
    here.journal.is_shared = True
    host = await here.host(variant="scopa", settings={"talk": "always"})
    there = full(here.journal)
    other = await there.join(host.code, 1)
    while commits(here, host) < 29:
        await host.do(PACE_2 if commits(here, host) % 2 else PACE_1)
    meanwhile(monkeypatch, here.journal, lambda: host.do(PACE_3))
    await other.do(c.Say(text="ciao"))
    await there.quiet()
    assert other.latest(Error).code == "room_full"
    assert commits(here, host) == 30


async def test_nothing_goes_on_for_ever_in_a_full_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "FINISH", 10)
    house = full()
    host = await with_bots(house, players=4)
    assert (await play_on(host))[-1] == "room_full"
    await house.pass_time(100)
    # Nor do people who come and go.
    for _ in range(30):
        await host.drop()
        watcher = await house.enter(c.Watch(room=host.code, name="Ugo"))
        await house.pass_time(7)
        await watcher.drop()
        host = await house.resume(host.code, 0)
    assert commits(house, host) <= 30 + 10 + 1
    assert await outcomes(host, c.EndMatch(), c.Start(), c.Leave()) == ["ok", "room_full", "ok"]


async def test_quick_people_and_bots_that_do_not_think_meet_nothing() -> None:
    house = House(bounds=Bounds())
    host = await with_bots(house, players=4)
    chance = random.Random(1)
    for _ in range(5):
        while host.view.phase != "match_over":
            move = next_move(host, chance)
            assert move is not None
            assert await outcomes(host, move) == ["ok"]
            house.time.advance(0.5)
        assert await outcomes(host, c.Start()) == ["ok"]
    assert commits(house, host) > 1000
    assert not any(limited(house, limit) for limit in Limit)

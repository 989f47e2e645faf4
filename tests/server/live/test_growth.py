"""Nobody fills the store: how fast rooms' logs may grow, and who never notices."""

import random

import pytest

from scopa_protocol import commands as c
from scopa_protocol.frames import Error
from scopa_server.bounds import Bounds
from scopa_server.live import budgets, growth
from scopa_server.metrics import Limit
from scopa_server.room.refused import Refused
from support.growing import (
    LOBBY,
    MATCH,
    PACE_1,
    PACE_2,
    commits,
    enter,
    limited,
    next_move,
    outcomes,
    play_on,
    with_bots,
)
from support.house import Guest, House
from support.tables import token

# At one table, from one address


@pytest.mark.parametrize("kind", [*LOBBY, *MATCH])
async def test_a_table_is_changed_at_a_persons_pace(kind: str) -> None:
    house = House(bounds=Bounds(max_changes_per_minute=10))
    host = await (with_bots(house) if kind in MATCH else house.host(variant="scopa", players=2))
    house.time.advance(60)
    commands, before = {**LOBBY, **MATCH}[kind] * 6, commits(house, host)
    found = await outcomes(host, *commands[:11])
    assert found == [*["ok"] * 10, "too_fast"]
    assert commits(house, host) - before == 10
    assert limited(house, Limit.CHANGES) == 1
    details = host.latest(Error).details
    assert details is not None
    house.time.advance(details["retry_ms"] / 1000)
    assert await outcomes(host, *commands[10:]) == ["ok", "too_fast"]


async def test_matches_are_begun_at_that_pace_and_can_always_be_ended() -> None:
    house = House(bounds=Bounds(max_changes_per_minute=10))
    host = await with_bots(house, pace_ms=5000)
    house.time.advance(60)
    found = await outcomes(host, *[c.EndMatch(), c.Start()] * 11)
    assert found == [*["ok"] * 20, "ok", "too_fast"]


async def test_there_is_no_way_around_it_but_another_address() -> None:
    house = House(bounds=Bounds(max_changes_per_minute=6))
    host = await house.host(variant="scopa", players=3)
    # The same seat again, another seat, and somebody new on it each time.
    again = await house.resume(host.code, 0)
    other = await house.join(host.code, 1)
    found = await outcomes(host, PACE_1, PACE_2)
    found += await outcomes(again, PACE_1)
    found += await outcomes(other, c.Sit(seat=2))
    assert found == ["ok"] * 4
    await other.do(c.Leave())
    newcomer = await house.join(host.code, 1)
    assert newcomer.visitor.seat == 1
    late = await enter(house, c.Join(room=host.code, name="Dino", token=token(7)), "")
    assert late.latest(Error).code == "too_fast"
    assert await outcomes(again, PACE_2) == ["too_fast"]
    # Nor does it help to let the room leave memory.
    for guest in (host, again, newcomer):
        await guest.drop()
    await house.pass_time(11)
    assert not len(house.rooms)
    back = await house.resume(host.code, 0)
    assert await outcomes(back, PACE_2, PACE_1) == ["ok", "too_fast"]
    away = await enter(house, c.Join(room=host.code, name="Dino", token=token(7)), "elsewhere")
    assert await outcomes(away, c.Pause(), c.Sit(seat=1)) == ["wrong_phase", "seat_taken"]
    assert (await house.host(variant="scopa")).visitor.seat == 0


async def test_cards_and_what_changes_nothing_meet_no_pace() -> None:
    house = House(bounds=Bounds(max_changes_per_minute=2, max_moves_per_minute=10_000))
    host = await with_bots(house)
    assert await outcomes(host, PACE_1) == ["too_fast"]
    assert set(await play_on(host)) == {"ok"}
    assert host.view.phase == "match_over"
    assert await outcomes(host, c.EndMatch(), *[c.Unpause()] * 9) == ["ok"] * 10


# At one table, from everywhere


async def test_a_table_goes_on_no_faster_than_people_play() -> None:
    house = House(bounds=Bounds(max_moves_per_minute=6))
    host = await with_bots(house, players=4)
    await play_on(host)
    assert host.view.phase == "playing"
    assert limited(house, Limit.MOVES)
    before, deal = commits(house, host), host.view.deal
    assert before <= 60
    # It goes on where it was, as it may: bots are slower, and so must people be.
    await house.pass_time(60)
    assert before < commits(house, host) <= before + 7
    chance, found = random.Random(1), list[str]()
    while host.view.deal == deal:
        await house.pass_time(10)
        found += await outcomes(host, *filter(None, [next_move(host, chance)]))
    assert set(found) <= {"ok", "too_fast"}


async def test_bots_wait_where_nobody_may_pay_for_them() -> None:
    house = House(bounds=Bounds(max_moves_per_minute=6))
    host = await with_bots(house, players=4, next_deal_seconds=5)
    await host.do(c.StandIn(seat=0))
    await house.pass_time(120)
    for _ in range(10):
        before = commits(house, host)
        await house.pass_time(60)
        assert before < commits(house, host) <= before + 7


# From one address, at all tables


async def test_a_day_of_an_address_is_one_for_all_its_tables() -> None:
    house = House(bounds=Bounds(max_changes_per_day=100))
    found = list[str]()
    guests = [Guest(house) for _ in range(10)]
    for number, guest in enumerate(guests):
        create = c.Create(name="Anna", rules={"variant": "scopa"}, token=token(number))
        try:
            await house.rooms.create(guest.visitor, create)
        except Refused as refusal:
            found.append(refusal.code.value)
            continue
        await house.quiet()
        found += await outcomes(guest, *[PACE_1, PACE_2] * 10)
    host = guests[0]
    assert sum(map(len, house.journal.logs.values())) <= 100
    assert found.count("ok") >= 80
    assert found[-1] == "too_fast"
    assert limited(house, Limit.ADDRESS_CHANGES)
    # Whoever comes from elsewhere has a day of their own; time gives some of it back.
    other = await enter(house, c.Join(room=host.code, name="Bruno", token=token(20)), "elsewhere")
    assert other.view.you == 1
    assert await outcomes(guests[1], PACE_1) == ["too_fast"]
    house.time.advance(budgets.DAY)
    assert await outcomes(host, PACE_1, PACE_2) == ["ok"] * 2


async def test_bots_play_on_the_account_of_who_is_there() -> None:
    house = House(bounds=Bounds(max_changes_per_day=100))
    host = await with_bots(house, players=4, watchers="table")
    await play_on(host)
    assert host.view.phase == "playing"
    before = commits(house, host)
    assert before <= 100
    await house.pass_time(100)
    assert commits(house, host) == before
    # Somebody from elsewhere who wants to see more has them play.
    await enter(house, c.Watch(room=host.code, name="Ugo"), "elsewhere")
    await house.pass_time(10)
    assert commits(house, host) > before
    assert host.view.options is not None


async def test_a_table_plays_on_however_much_is_said() -> None:
    house = House(bounds=Bounds(max_moves_per_minute=3, max_talk_per_minute=1000))
    people = await house.table(variant="scopa", players=2, settings={"talk": "always"})
    words = [c.Say(text=f"{number}") for number in range(20)]
    for person in people * 2:
        assert set(await outcomes(person, *words)) == {"ok"}
    chance = random.Random(3)
    for _ in range(4):
        person = next(one for one in people if one.view.to_play == one.view.you)
        move = next_move(person, chance)
        assert move is not None
        assert await outcomes(person, move) == ["ok"]
    assert not limited(house, Limit.MOVES)


async def test_a_long_change_counts_as_several() -> None:
    house = House(bounds=Bounds(max_changes_per_day=100, max_talk_per_minute=1000))
    host = await house.host(settings={"talk": "always"})
    found = await outcomes(host, *[c.Say(text="è" * 280)] * 100)
    assert 20 <= found.count("ok") <= 40
    written = sum(len(commit.payload) for commit in house.journal.logs[host.code])
    assert written < 100 * growth.BYTES_EACH * 1.2


def test_who_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "KEPT", 100)
    house = House(bounds=Bounds(max_changes_per_minute=1))
    kept = house.rooms._budgets
    for number in range(1000):
        kept.change(f"ROOM{number}", f"address {number}")
        kept.pay(f"ROOM{number}", f"address {number}", 1)
        assert max(len(of._all) for of in (kept._changes, kept._days, kept._moves)) <= 100
    with pytest.raises(Refused):
        kept.change("ROOM999", "address 999")

"""Nobody fills the store: how fast and how far a room's log may grow, and who never notices."""

import random
from typing import Any, Final

import pytest

from scopa_protocol import commands as c
from scopa_protocol.frames import Error
from scopa_server.bounds import SPARABLE, Bounds, Sparable
from scopa_server.live import budgets, growth
from scopa_server.metrics import Limit
from scopa_server.room.refused import Refused
from support.house import Guest, House
from support.memory_journal import MemoryJournal
from support.tables import token

PACE_1: Final = c.Configure(settings={"pace_ms": 1})
PACE_2: Final = c.Configure(settings={"pace_ms": 2})
PACE_3: Final = c.Configure(settings={"pace_ms": 3})
LOBBY: Final[dict[str, tuple[c.Command, ...]]] = {
    "configure": (PACE_1, PACE_2),
    "passcode": (c.Configure(passcode="pepe"), c.Configure(passcode="")),
    "sit": (c.Sit(seat=1), c.Sit(seat=0)),
    "arrange": (c.Arrange(names=[None, "Anna"]), c.Arrange(names=["Anna", None])),
}
MATCH: Final[dict[str, tuple[c.Command, ...]]] = {"pause": (c.Pause(), c.Unpause())}


def limited(house: House, limit: Limit) -> float:
    """How often a limit was met."""
    labels = {"limit": limit.value}
    return house.metrics.registry.get_sample_value("scopa_limits_met_total", labels) or 0


def commits(house: House, guest: Guest) -> int:
    """How long the log of a guest's room is."""
    return len(house.journal.logs[guest.code])


async def outcomes(guest: Guest, *commands: c.Command) -> list[str]:
    """What commands come to: the code of a refusal, or ok."""
    found = list[str]()
    for command in commands:
        errors = [frame.code for frame in await guest.do(command) if isinstance(frame, Error)]
        found += errors or ["ok"]
    return found


async def enter(house: House, command: c.Join | c.Resume | c.Watch, address: str) -> Guest:
    """Somebody comes in from somewhere."""
    guest = Guest(house)
    guest.visitor.address = address
    await house.rooms.enter(guest.visitor, command)
    await house.quiet()
    return guest


async def with_bots(house: House, players: int = 2, **settings: Any) -> Guest:
    """A host and bots, the match begun; the host's card is awaited, or the match is at its end."""
    settings = {"pace_ms": 0, **settings}
    host = await house.host(variant="scopa", players=players, target=21, settings=settings)
    for seat in range(1, players):
        await host.do(c.SeatBot(seat=seat))
    await host.do(c.Start())
    return host


def next_move(guest: Guest, chance: random.Random) -> c.Command | None:
    """What a guest does to carry the match on."""
    view = guest.view
    if view.phase == "deal_over":
        return c.Ready(deal=view.deal)
    if view.options is None:
        return None
    card = chance.choice(sorted(view.options))
    take = chance.choice(view.options[card] or [[]])
    return c.Play(deal=view.deal, turn=view.turn, card=card, take=take)


async def play_on(guest: Guest, seed: int = 1) -> list[str]:
    """Play to the end of the match, until a card is refused, or bots wait; the outcomes."""
    chance, found = random.Random(seed), list[str]()
    while guest.view.phase != "match_over" and set(found) <= {"ok"}:
        move = next_move(guest, chance)
        if move is None:
            return found
        found += await outcomes(guest, move)
    return found


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


# From the server's own machine


def sparing(*asked: Sparable, **limits: Any) -> House:
    """A house that spares its own machine all but what was asked for."""
    return House(bounds=Bounds(**limits, spared=SPARABLE - {*asked}))


async def hosts_locally(house: House, players: int = 2, **settings: Any) -> Guest:
    """A host on the own machine, with bots; the match begun."""
    host = Guest(house)
    host.visitor.local = True
    rules = {"variant": "scopa", "players": players, "target": 21}
    create = c.Create(name="Anna", rules=rules, settings={"pace_ms": 0, **settings}, token=token(0))
    await house.rooms.create(host.visitor, create)
    await house.quiet()
    for seat in range(1, players):
        await host.do(c.SeatBot(seat=seat))
    await host.do(c.Start())
    return host


async def test_the_own_machine_changes_and_plays_as_fast_as_it_likes() -> None:
    house = sparing(max_changes_per_minute=2, max_moves_per_minute=1, max_changes_per_day=2)
    host = await hosts_locally(house, players=4)
    quick = c.Configure(settings={"pace_ms": 0})
    assert set(await outcomes(host, *[PACE_1, PACE_2] * 20, quick)) == {"ok"}
    assert set(await play_on(host)) == {"ok"}
    assert host.view.phase == "match_over"
    assert commits(house, host) > 100
    assert not any(limited(house, limit) for limit in Limit)


ASKED: Final[dict[Sparable, Limit]] = {
    "max_changes_per_minute": Limit.CHANGES,
    "max_moves_per_minute": Limit.MOVES,
    "max_changes_per_day": Limit.ADDRESS_CHANGES,
}


@pytest.mark.parametrize("asked", ASKED)
async def test_what_was_asked_for_holds_there(asked: Sparable) -> None:
    house = sparing(asked, **{"max_changes_per_day": 10, "max_moves_per_minute": 1, asked: 6})
    host = await hosts_locally(house)
    assert "too_fast" in await outcomes(host, *[PACE_1, PACE_2] * 40)
    assert {limit for limit in Limit if limited(house, limit)} == {ASKED[asked]}


@pytest.mark.parametrize("address", ["", "elsewhere"])
async def test_nobody_else_at_the_table_is_spared_or_pays_for_it(address: str) -> None:
    house = sparing(max_changes_per_minute=1, max_moves_per_minute=1)
    host = await hosts_locally(house, players=3)
    await outcomes(host, *[PACE_1, PACE_2] * 100)
    await host.do(c.EndMatch())
    await host.do(c.Unseat(seat=1, name=host.view.seats[1].name or ""))
    join = c.Join(room=host.code, name="Bruno", token=token(1))
    other = await enter(house, join, address)
    # What the own machine has changed takes nothing from others at the table.
    assert await outcomes(other, c.Leave()) == ["ok"]
    other = await enter(house, c.Join(room=host.code, name="Dino", token=token(2)), address)
    assert other.latest(Error).code == "too_fast"


async def test_bots_go_on_for_who_is_on_the_own_machine_and_on_nobody_elses_day() -> None:
    house = sparing(max_changes_per_day=100, max_moves_per_minute=1)
    first = await hosts_locally(house, players=4, watchers="table", next_deal_seconds=5)
    await first.do(c.EndMatch())
    await enter(house, c.Watch(room=first.code, name="Ugo"), "elsewhere")
    await first.drop()
    host = Guest(house)
    host.visitor.local = True
    await house.rooms.enter(host.visitor, c.Resume(room=first.code, token=token(0)))
    await house.quiet()
    await host.do(c.Start())
    await host.do(c.StandIn(seat=0))
    before = commits(house, host)
    await house.pass_time(120)
    assert commits(house, host) > before + 100
    assert not house.rooms._budgets._days._all
    # With nobody there who is spared they wait.
    await host.drop()
    before = commits(house, host)
    await house.pass_time(120)
    assert commits(house, host) <= before + 20


async def test_a_room_is_full_for_the_own_machine_too() -> None:
    house = sparing(max_changes_per_room=30, max_talk_per_minute=1)
    host = await hosts_locally(house, talk="always")
    assert await outcomes(host, *[c.Say(text="ciao")] * 2) == ["ok", "too_fast"]
    assert "room_full" in await outcomes(host, *[PACE_1, PACE_2] * 20)


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

"""A seat's connections and a room's watchers, at one process and at several."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codes import CloseCode
from scopa_protocol.events import WatcherLeft
from scopa_protocol.frames import Error, Update
from scopa_server.bounds import Bounds
from scopa_server.journal.interface import Unavailable
from scopa_server.live import bouncer
from scopa_server.live.gossip import HOLDS_SECONDS, SAY_SECONDS
from scopa_server.metrics import Limit
from support.house import Guest, House


def houses(count: int, **bounds: int) -> list[House]:
    """Processes on one store."""
    limits = replace(Bounds(max_frames_per_second=100_000), **bounds)  # type: ignore[arg-type]
    first = House(bounds=limits)
    first.journal.is_shared = True
    return [first, *[House(first.journal, seed=n, bounds=limits) for n in range(1, count)]]


def is_in(guest: Guest, guests: list[Guest]) -> bool:
    """Whether somebody who came back was let in, and is one of the guests now; else too fast."""
    if guest.visitor.seat is None:
        assert guest.latest(Error).code == "too_fast"
        return False
    guests.append(guest)
    return True


def gone(guests: list[Guest]) -> int:
    """How many of the guests were closed, and are none any more."""
    before = len(guests)
    guests[:] = [guest for guest in guests if guest.closing is None]
    return before - len(guests)


async def quiet(*every: House) -> None:
    """Let all processes say and hear what there is."""
    for _ in range(6):
        for house in every:
            await house.quiet()


async def pass_time(seconds: int, *every: House) -> None:
    """Let time pass alike."""
    for _ in range(seconds):
        for house in every:
            await house.pass_time(1)


def met(house: House, limit: Limit) -> float:
    """How often a limit was met."""
    value = house.metrics.registry.get_sample_value("scopa_limits_met_total", {"limit": limit})
    return value or 0


def closes(guests: Sequence[Guest]) -> list[int | None]:
    """The close codes, None of those that are open."""
    return [None if guest.closing is None else guest.closing.code for guest in guests]


async def killed(house: House) -> None:
    """End a process as kill -9 does: what it said of itself stays said."""
    said = {room: dict(notes) for room, notes in house.journal.notes.items()}
    for task in [*house.rooms._keeping.live.values(), *house.rooms._keeping._tasks]:
        task.cancel()
    await house.quiet()
    house.journal.notes.update(said)


async def unheard(room: str, process: str, note: bytes, seconds: int) -> dict[str, bytes]:
    """What there is to hear where the store can't be reached."""
    raise Unavailable("down")


def forgotten(house: House) -> None:
    """Let the time be over that a dead process's words hold."""
    for notes in house.journal.notes.values():
        notes.pop(house.rooms.process, None)


async def test_connections_of_a_seat_do_not_replace_each_other_for_ever() -> None:
    house = House(bounds=Bounds(max_connections_per_seat=2))
    host = await house.host()
    guests, replaced, refused = [host], 0, 0
    # Clients that come back at once whenever they are closed.
    while refused < 5 and replaced < 100:
        refused += not is_in(await house.resume(host.code, 0), guests)
        replaced += gone(guests)
    # Those who are in stay in, and after a while one may come again.
    assert (len(guests), replaced) == (2, bouncer.REPLACED_AT_ONCE)
    house.time.advance(60)
    assert (await house.resume(host.code, 0)).visitor.seat == 0


async def test_a_fifth_connection_closes_the_oldest_wherever_that_is() -> None:
    here, there = houses(2)
    host = await here.host()
    guests = [host]
    for house in (here, there, there, there):
        guests.append(await house.resume(host.code, 0))
        await quiet(here, there)
    assert closes(guests) == [CloseCode.REPLACED, None, None, None, None]
    guests.append(await here.resume(host.code, 0))
    await quiet(here, there)
    assert closes(guests) == [CloseCode.REPLACED] * 2 + [None] * 4
    # What is here is the newest by now, so it is what is there that goes.
    guests.append(await here.resume(host.code, 0))
    await quiet(here, there)
    assert closes(guests) == [CloseCode.REPLACED] * 3 + [None] * 4
    assert guests[2].house is there
    assert host.closing is not None
    assert (host.closing.bye.code, host.closing.bye.retry) == ("replaced", False)
    assert met(here, Limit.SEAT_CONNECTIONS) + met(there, Limit.SEAT_CONNECTIONS) == 3
    assert guests[-1].view.seats[0].online


async def test_four_connections_anywhere_are_left_alone() -> None:
    every = houses(4)
    host = await every[0].host()
    guests = [host, *[await house.resume(host.code, 0) for house in every[1:]]]
    await pass_time(20, *every)
    # A tab is loaded anew before the old one is gone, again and again.
    for turn in range(12):
        await guests[turn].drop()
        guests.append(await every[turn % 3].resume(host.code, 0))
        await quiet(*every)
    assert closes(guests) == [None] * len(guests)


async def test_who_comes_back_often_while_a_dead_process_seems_to_hold_the_seat_gets_in() -> None:
    here, there = houses(2)
    host = await here.host()
    for _ in range(3):
        await there.resume(host.code, 0)
    await quiet(here, there)
    await killed(there)
    for _ in range(2 * bouncer.REPLACED_AT_ONCE):
        guest = await here.resume(host.code, 0)
        assert guest.visitor.seat == 0
        await guest.drop()
    assert not met(here, Limit.SEAT_CONNECTIONS)
    assert host.closing is None


async def test_two_fifths_at_the_same_moment_leave_four() -> None:
    here, there = houses(2)
    host = await here.host()
    guests = [host, *[await house.resume(host.code, 0) for house in (here, there, there)]]
    await quiet(here, there)
    both = await asyncio.gather(here.resume(host.code, 0), there.resume(host.code, 0))
    await quiet(here, there)
    assert closes([*guests, *both]) == [CloseCode.REPLACED] * 2 + [None] * 4


async def test_a_process_that_was_killed_costs_nobody_a_connection() -> None:
    here, there = houses(2)
    host = await here.host()
    guests = [host, await here.resume(host.code, 0)]
    for _ in range(2):
        await there.resume(host.code, 0)
    await quiet(here, there)
    await killed(there)
    guests += [await here.resume(host.code, 0) for _ in range(2)]
    await pass_time(HOLDS_SECONDS - 1, here)
    assert closes(guests) == [None] * 4
    guests.append(await here.resume(host.code, 0))
    await quiet(here)
    assert closes(guests) == [CloseCode.REPLACED] + [None] * 4
    forgotten(there)
    await pass_time(SAY_SECONDS + 1, here)
    assert closes(guests) == [CloseCode.REPLACED] + [None] * 4


async def test_without_news_of_the_others_a_process_counts_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here, there = houses(2)
    host = await here.host()
    guests = [host, *[await there.resume(host.code, 0) for _ in range(3)]]
    await quiet(here, there)
    monkeypatch.setattr(here.journal, "gossip", unheard)
    guests += [await here.resume(host.code, 0) for _ in range(3)]
    await quiet(here, there)
    assert closes(guests) == [None] * 7
    guests.append(await here.resume(host.code, 0))
    assert closes(guests) == [CloseCode.REPLACED] + [None] * 7
    monkeypatch.undo()
    await pass_time(SAY_SECONDS + 1, here, there)
    assert closes(guests) == [CloseCode.REPLACED] * 4 + [None] * 4
    assert {guest.house for guest in guests[4:]} == {here}


async def test_connections_at_several_processes_do_not_replace_each_other_for_ever() -> None:
    every = houses(2, max_connections_per_seat=2)
    host = await every[0].host()
    guests, replaced, refused = [host], 0, 0
    for turn in range(60):
        guest = await every[turn % 2].resume(host.code, 0)
        await quiet(*every)
        refused += not is_in(guest, guests)
        replaced += gone(guests)
    assert len(guests) == 2
    assert replaced == bouncer.REPLACED_AT_ONCE
    assert refused == 60 - 1 - replaced


async def test_who_comes_to_a_process_that_is_new_to_the_room_is_the_newest() -> None:
    here, there = houses(2)
    host = await here.host()
    guests = [host, *[await here.resume(host.code, 0) for _ in range(3)]]
    guests.append(await there.resume(host.code, 0))
    await quiet(here, there)
    assert closes(guests) == [CloseCode.REPLACED] + [None] * 4


@pytest.mark.parametrize("seed", range(8))
async def test_whatever_happens_at_several_processes_the_newest_four_stay(seed: int) -> None:
    chance = random.Random(seed)
    every = houses(3)
    host = await every[0].host()
    guests = [host]
    dead: list[House] = []
    for step in range(40):
        alive = [guest for guest in guests if guest.closing is None and not guest.visitor.gone]
        does = chance.random()
        if does < 0.55:
            guest = await chance.choice(every).resume(host.code, 0)
            if guest.visitor.seat == 0:
                guests.append(guest)
                alive.append(guest)
        elif does < 0.8 and len(alive) > 1:
            await chance.choice(alive).drop()
        elif does < 0.85:
            dead.append(every.pop(chance.randrange(3)))
            await killed(dead[-1])
            for guest in guests:
                guest.visitor.gone |= guest.house is dead[-1]
            every.append(House(host.house.journal, seed=step, bounds=host.house.bounds))
        elif does < 0.9 and dead:
            forgotten(dead.pop(0))
        await quiet(*every)
        await pass_time(chance.choice((0, 6, 11)), *every)
        alive = [guest for guest in alive if not guest.visitor.gone]
        assert [guest for guest in alive if guest.closing is None] == alive[-4:]


@pytest.mark.parametrize("seed", range(8))
async def test_who_must_go_goes_at_once_however_news_cross(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    every = houses(3)
    host = await every[0].host()
    guests = [host, *[await house.resume(host.code, 0) for house in every]]
    await quiet(*every)
    gossip = host.house.journal.gossip

    async def slow(*words: Any) -> dict[str, bytes]:
        for _ in range(chance.randrange(20)):
            await asyncio.sleep(0)
        heard = await gossip(*words)
        for _ in range(chance.randrange(20)):
            await asyncio.sleep(0)
        return heard

    monkeypatch.setattr(host.house.journal, "gossip", slow)
    guests += await asyncio.gather(*(house.resume(host.code, 0) for house in every))
    await quiet(*every)
    assert closes(guests) == [CloseCode.REPLACED] * 3 + [None] * 4


async def test_so_many_watch_as_may_however_they_come() -> None:
    here, there = houses(2, max_watchers_per_room=3)
    host = await here.host(settings={"watchers": "table"})
    first = await here.enter(c.Watch(room=host.code, name="Ugo"))
    await there.enter(c.Watch(room=host.code, name="Eva"))
    await quiet(here, there)
    both = await asyncio.gather(
        here.enter(c.Watch(room=host.code, name="Ida")),
        there.enter(c.Watch(room=host.code, name="Leo")),
    )
    await quiet(here, there)
    assert sorted(code or 0 for code in closes(both)) == [0, CloseCode.REFUSED]
    (gone,) = [guest for guest in both if guest.closing is not None]
    assert gone.closing is not None
    assert (gone.closing.bye.code, gone.closing.bye.retry) == ("room_full", False)
    assert len(first.view.watchers) == len(host.view.watchers) == 3
    told = [event for f in host.frames if isinstance(f, Update) for event in f.events]
    assert WatcherLeft(name=gone.visitor.name) in told
    late = await there.enter(c.Watch(room=host.code, name="Pia"))
    assert late.latest(Error).code == "room_full"


async def test_watchers_at_a_process_that_is_new_to_the_room_take_nobodys_name() -> None:
    here, there = houses(2)
    host = await here.host(settings={"watchers": "table"})
    await here.enter(c.Watch(room=host.code, name="Ugo"))
    other = await there.enter(c.Watch(room=host.code, name="Ugo"))
    assert other.latest(Error).code == "name_taken"

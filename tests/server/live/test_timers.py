"""Every kind of timer: once, whichever processes show the room, and on after a restart."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from scopa_protocol import commands as c
from scopa_server.live.clocks import ANSWER_SECONDS
from scopa_server.live.gossip import SAY_SECONDS
from scopa_server.live.room import CLOCK_TOUCH_SECONDS
from scopa_server.room import events as e
from scopa_server.room.clock import AWAY_AFTER_MS, HOST_AWAY_MS
from support.house import House
from support.processes import Processes

BRIEF = 0.6
"""Seconds, a bit more than a step of time, that everybody may be late or early."""


async def _begin(several: Processes) -> None:
    """The clock runs from the start of the match."""


async def _away(several: Processes) -> None:
    """Somebody whose turn it isn't goes."""
    seat = several.awaited.view.you or 0
    await several.drop(several.guests[(seat + 2) % 4])


async def _absent(several: Processes) -> None:
    await several.drop(several.awaited)


async def _deal_over(several: Processes) -> None:
    await several.deal_out()


async def _proposed(several: Processes) -> None:
    await several.deal_out()
    await several.guests[0].do(c.Propose(rules={"target": 60}))


async def _served(several: Processes) -> None:
    """The seat after the one to play is served, and comes up."""
    seat = ((several.awaited.view.you or 0) + 1) % 4
    await several.drop(several.guests[seat])
    await next(g for g in several.guests if g.view.host == g.view.you).do(c.StandIn(seat=seat))
    await several.play()


@dataclass(frozen=True)
class Kind:
    """A timer: how it begins, when it is due, and what it puts into the log."""

    begins: Callable[[Processes], Awaitable[None]]
    seconds: float
    event: type
    settings: dict[str, Any] = field(default_factory=dict)


KINDS = {
    "turn": Kind(_begin, 60, e.StoodIn, {"turn_seconds": 60}),
    "absent": Kind(_absent, 60, e.StoodIn, {"absent_seconds": 60}),
    "next_deal": Kind(_deal_over, 60, e.Dealt, {"next_deal_seconds": 60}),
    "proposal": Kind(_proposed, 60, e.ProposalDropped),
    "away": Kind(_away, AWAY_AFTER_MS / 1000, e.Away, {"absent_seconds": 0}),
    "served": Kind(_served, 5, e.Played),
}
CLOCKS = ["turn", "absent", "next_deal", "proposal"]


async def begun(kind: Kind, processes: int) -> tuple[Processes, int]:
    """Processes in which a timer of that kind has just begun; how often its event was stored."""
    several = Processes(processes)
    await several.table(**{"pace_ms": 5000, **kind.settings})
    # Nobody may be taken for somebody who has just been loaded.
    await several.pass_time(0 if kind.begins is _begin else 20)
    await kind.begins(several)
    return several, several.stored(kind.event)


@pytest.mark.parametrize("name", KINDS)
async def test_of_several_processes_one_acts(name: str) -> None:
    kind = KINDS[name]
    several, before = await begun(kind, 3)
    tried = [house.journal.batches for house in several.houses]
    await several.pass_time(kind.seconds + BRIEF)
    assert several.stored(kind.event) == before + 1
    await several.pass_time(4)
    assert several.stored(kind.event) == before + 1
    first, *others = [house.journal.batches for house in several.houses]
    assert first > tried[0]
    assert others == tried[1:]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("hanging", [1, 2])
async def test_the_next_process_waits_a_second_longer(name: str, hanging: int) -> None:
    kind = KINDS[name]
    several, before = await begun(kind, 3)
    acting: House = several.houses[hanging]
    await several.pass_time(kind.seconds + hanging - BRIEF, *several.houses[hanging:])
    assert several.stored(kind.event) == before
    await several.pass_time(2 * BRIEF, acting)
    assert several.stored(kind.event) == before + 1
    # Those that hung wake up, late.
    await several.pass_time(2, *several.houses[:hanging])
    assert several.stored(kind.event) == before + 1


@pytest.mark.parametrize("name", CLOCKS)
@pytest.mark.parametrize("killed", [False, True])
async def test_a_clock_goes_on_after_a_restart(name: str, killed: bool) -> None:
    kind = KINDS[name]
    several, before = await begun(kind, 2)
    await several.pass_time(32)
    await several.restart(killed=killed)
    assert several.stored(kind.event) == before
    clock = several.guests[0].view.clock
    assert clock is not None
    assert clock.kind == name
    lost = CLOCK_TOUCH_SECONDS if killed else 0
    assert 28 - BRIEF <= clock.left_ms / 1000 <= 28 + lost + BRIEF
    await several.pass_time(clock.left_ms / 1000 - BRIEF)
    assert several.stored(kind.event) == before
    await several.pass_time(2 * BRIEF)
    assert several.stored(kind.event) == before + 1


async def _nothing(several: Processes) -> None:
    """The decision and its clock are those from before the step."""


async def _commit(several: Processes) -> None:
    await several.guests[0].do(c.Configure(settings={"hints": "off"}))


async def _pause(several: Processes) -> None:
    await several.guests[0].do(c.Pause())
    await several.guests[0].do(c.Unpause())


async def _play(several: Processes) -> None:
    await several.play()


@pytest.mark.parametrize("step", [3600, -3600])
@pytest.mark.parametrize("then", [_nothing, _commit, _pause, _play])
@pytest.mark.parametrize("killed", [False, True])
async def test_a_wrong_clock_of_the_store_uses_no_turn_up(
    step: int, then: Callable[[Processes], Awaitable[None]], killed: bool
) -> None:
    several = Processes(2)
    await several.table(turn_seconds=600)
    await several.pass_time(2 * CLOCK_TOUCH_SECONDS + 2)
    several.wall.advance(step)
    await then(several)
    await several.houses[0].quiet()
    used = 0 if then is _play else 2 * CLOCK_TOUCH_SECONDS + 2
    await several.restart(killed=killed)
    clock = several.guests[0].view.clock
    assert clock is not None
    lost = CLOCK_TOUCH_SECONDS if killed else 0
    assert 600 - used - BRIEF <= clock.left_ms / 1000 <= 600 - used + lost + BRIEF


async def test_who_comes_after_the_clock_was_set_back_loses_no_time() -> None:
    several = Processes(1)
    await several.table(turn_seconds=600)
    await several.pass_time(2 * CLOCK_TOUCH_SECONDS + 2)
    several.wall.advance(-3600)
    await several.play()
    there = several.joined()
    phone = await there.resume(several.code, 1)
    await several.pass_time(SAY_SECONDS + ANSWER_SECONDS + 1)
    await several.guests[0].do(c.Configure(settings={"hints": "off"}))
    await there.quiet()
    clock = phone.view.clock
    assert clock is not None
    assert clock.left_ms / 1000 >= 600 - SAY_SECONDS - ANSWER_SECONDS - 1 - BRIEF


@pytest.mark.parametrize("name", ["away", "served"])
async def test_what_was_due_soon_is_done_once_after_a_restart(name: str) -> None:
    kind = KINDS[name]
    several, before = await begun(kind, 2)
    await several.pass_time(2)
    await several.restart(killed=True)
    await several.pass_time(12)
    assert several.stored(kind.event) == before + 1


@pytest.mark.parametrize("killed", [False, True])
async def test_a_host_who_was_gone_before_a_restart_can_be_replaced_in_time(killed: bool) -> None:
    needed = HOST_AWAY_MS[True] / 1000
    several = Processes(2)
    await several.table(absent_seconds=0)
    await several.drop(several.guests[0])
    await several.pass_time(needed - 50)
    await several.restart(killed=killed)
    claimant = several.guests[0]
    claim = c.MakeHost(seat=1, name="Bruno")
    await several.pass_time(40)
    assert await claimant.refused(claim) == "not_host"
    await several.pass_time(10 + CLOCK_TOUCH_SECONDS)
    await claimant.do(claim)
    assert claimant.view.host == 1


async def test_empty_times_are_never_counted_however_many_there_were() -> None:
    several = Processes(1)
    await several.table(turn_seconds=600)
    for _ in range(3):
        await several.pass_time(50)
        await several.restart(killed=False)
    await several.guests[0].do(c.Pause())
    await several.restart(killed=True)
    await several.guests[0].do(c.Unpause())
    clock = several.guests[0].view.clock
    assert clock is not None
    assert 450 - 4 * BRIEF <= clock.left_ms / 1000 <= 450 + 4 * BRIEF


async def test_who_comes_through_another_process_sees_the_same_clock() -> None:
    several = Processes(1)
    await several.table(turn_seconds=120)
    here = several.houses[0]
    await several.pass_time(2 * CLOCK_TOUCH_SECONDS + 8)
    there = several.joined()
    phone = await there.resume(several.code, 1)
    await here.quiet()
    await several.pass_time(SAY_SECONDS + 1)
    await several.guests[0].do(c.Configure(settings={"hints": "off"}))
    await there.quiet()
    clocks = [guest.view.clock for guest in (several.guests[1], phone)]
    left = [clock.left_ms for clock in clocks if clock is not None]
    assert abs(left[0] - left[1]) <= BRIEF * 1000


GONE_SECONDS = CLOCK_TOUCH_SECONDS / 2


async def _come_while_the_store(several: Processes, *, hangs: bool) -> list[int]:
    """Somebody comes through another process just before its store is gone for a while.

    Milliseconds left, there and here, once it is back.
    """
    await several.table(turn_seconds=120)
    here = several.houses[0]
    await several.pass_time(2 * CLOCK_TOUCH_SECONDS + 8)
    there = several.joined()
    phone = await there.resume(several.code, 1)
    await here.quiet()
    gossip, back = there.journal.gossip, asyncio.Event()

    async def late(room: str, process: str, note: bytes, seconds: int) -> dict[str, bytes]:
        await back.wait()
        return await gossip(room, process, note, seconds)

    if hangs:
        there.journal.gossip = late  # type: ignore[method-assign]
    there.journal.down = not hangs
    await several.pass_time(GONE_SECONDS)
    there.journal.down = False
    back.set()
    await several.pass_time(2 * SAY_SECONDS + 1)
    await several.guests[0].do(c.Configure(settings={"hints": "off"}))
    await there.quiet()
    clocks = [guest.view.clock for guest in (phone, several.guests[1])]
    return [clock.left_ms for clock in clocks if clock is not None]


@pytest.mark.parametrize("hangs", [False, True])
async def test_a_slow_store_makes_no_clock_run_out_early(hangs: bool) -> None:
    there, here = await _come_while_the_store(Processes(1), hangs=hangs)
    assert there >= here - (ANSWER_SECONDS + BRIEF) * 1000
    # Nor is it forgotten how far time had run for the others.
    assert there <= here + (GONE_SECONDS + BRIEF) * 1000

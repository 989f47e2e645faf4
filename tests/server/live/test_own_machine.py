"""Who comes from the server's own machine may change and play as fast as it likes."""

from typing import Any, Final

import pytest

from scopa_protocol import commands as c
from scopa_protocol.frames import Error
from scopa_server.bounds import SPARABLE, Bounds, Sparable
from scopa_server.metrics import Limit
from support.growing import PACE_1, PACE_2, commits, enter, limited, outcomes, play_on
from support.house import Guest, House
from support.tables import token

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

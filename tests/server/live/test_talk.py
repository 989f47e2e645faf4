"""How much one person may say, through however many processes."""

import asyncio

import pytest
from structlog.testing import capture_logs

from scopa_protocol import commands as c
from scopa_protocol.frames import Error, Update
from scopa_server.bounds import Bounds
from support.house import Guest, House

SAY = c.Say(text="ciao")
MOST = 4


def houses() -> tuple[House, House]:
    """Two processes on one store."""
    limits = Bounds(max_talk_per_minute=MOST)
    here = House(bounds=limits)
    here.journal.is_shared = True
    return here, House(here.journal, seed=1, bounds=limits)


async def said(guest: Guest) -> str:
    """What saying something comes to."""
    guest.read()
    answer = (await guest.do(SAY))[-1]
    assert isinstance(answer, Error | Update)
    return answer.code if isinstance(answer, Error) else "said"


async def test_a_person_says_no_more_through_two_processes_than_through_one() -> None:
    here, there = houses()
    host = await here.host(settings={"talk": "always"})
    lines = [host, await there.resume(host.code, 0)]
    assert [await said(lines[n % 2]) for n in range(MOST)] == ["said"] * MOST
    assert [await said(line) for line in lines] == ["too_fast"] * 2
    for house in (here, there):
        await house.pass_time(60 / MOST)
    assert sorted([await said(line) for line in lines]) == ["said", "too_fast"]


async def test_what_others_say_elsewhere_is_theirs() -> None:
    here, there = houses()
    host = await here.host(settings={"talk": "always", "watchers": "table", "watchers_talk": True})
    other = await there.join(host.code, 1)
    watcher = await there.enter(c.Watch(room=host.code, name="Ugo"))
    for line in (other, watcher):
        assert [await said(line) for _ in range(MOST)] == ["said"] * MOST
    assert await said(host) == "said"


async def test_who_spoke_elsewhere_and_moved_since_is_counted_and_nobody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here, there = houses()
    host = await here.host(variant="scopa", players=4, settings={"talk": "always"})
    lines = [await there.resume(host.code, 0), await there.join(host.code, 3)]
    watched = [host, await here.resume(host.code, 3)]
    top, reads = here.journal.top, asyncio.Event()

    async def late(room: str) -> tuple[int, str] | None:
        await reads.wait()
        return await top(room)

    monkeypatch.setattr(here.journal, "top", late)
    assert [await said(lines[1]) for _ in range(MOST)] == ["said"] * MOST
    await lines[1].do(c.Sit(seat=1))
    await lines[0].do(c.Sit(seat=3))
    await lines[0].do(c.Sit(seat=0))
    await lines[0].do(c.Configure(rules={"players": 2}))
    reads.set()
    with capture_logs() as logged:
        await here.quiet()
    assert not [entry for entry in logged if entry["event"] == "room_fault"]
    assert len(host.view.seats) == 2
    assert [guest.closing for guest in watched] == [None, None]
    assert [await said(guest) for guest in watched] == ["said", "too_fast"]

"""How much one person may say, through however many processes."""

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

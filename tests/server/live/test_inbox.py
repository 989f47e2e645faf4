"""A room's inbox and its alarm."""

import asyncio

from scopa_server.live.inbox import Inbox
from support.fake_time import FakeTime


async def woken(inbox: Inbox) -> bool:
    """Whether whoever waits for the inbox is woken, and stops waiting."""
    waiting = asyncio.ensure_future(inbox.wait())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    done = waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    return done


async def test_an_alarm_for_later_leaves_the_one_for_sooner() -> None:
    time = FakeTime()
    inbox, now = Inbox(time), time.now()
    inbox.wake_at(now + 5)
    inbox.wake_at(now + 60)
    time.advance(6)
    assert await woken(inbox)
    inbox.wake_at(now + 60)
    time.advance(30)
    assert not await woken(inbox)
    time.advance(30)
    assert await woken(inbox)


async def test_an_alarm_for_sooner_comes_first() -> None:
    time = FakeTime()
    inbox, now = Inbox(time), time.now()
    inbox.wake_at(now + 60)
    inbox.wake_at(now + 5)
    time.advance(6)
    assert await woken(inbox)


async def test_a_moment_that_has_come_needs_no_alarm() -> None:
    time = FakeTime()
    inbox = Inbox(time)
    inbox.wake_at(time.now())
    assert await woken(inbox)
    assert not await woken(inbox)


async def test_no_alarm_rings_at_a_closed_inbox() -> None:
    time = FakeTime()
    inbox = Inbox(time)
    inbox.wake_at(time.now() + 5)
    assert list(inbox.close()) == []
    time.advance(10)
    assert not await woken(inbox)

"""What processes tell one another through Redis, and how soon it is forgotten."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from scopa_server.journal import LOOK
from scopa_server.journal.places import read_place
from scopa_server.journal.redis_journal import RedisJournal
from server.journal.conftest import REDIS_KINDS
from support.drafts import new_room
from support.redis_cluster import RedisCluster
from support.redis_server import RedisServer

pytestmark = pytest.mark.parametrize("url", [*REDIS_KINDS, "cluster"], indirect=True)


@pytest.fixture
async def journals(url: str) -> AsyncIterator[tuple[RedisJournal, RedisJournal]]:
    """Two processes on one store."""
    pair = (RedisJournal(read_place(url)), RedisJournal(read_place(url)))
    yield pair
    for journal in pair:
        await journal.close()


async def test_a_process_hears_the_others(journals: tuple[RedisJournal, RedisJournal]) -> None:
    here, there = journals
    room = new_room()
    assert await here.gossip(room, "here", b"one: two\nthree", 10) == {}
    assert await there.gossip(room, "there", b"four", 10) == {"here": b"one: two\nthree"}
    assert await here.gossip(room, "here", b"five", 10) == {"there": b"four"}
    assert await there.gossip(room, "there", b"", 10) == {"here": b"five"}
    assert await here.gossip(room, "here", b"five", 10) == {}


async def test_only_what_changed_is_news(journals: tuple[RedisJournal, RedisJournal]) -> None:
    here, there = journals
    room = new_room()
    async with there.watch(room) as hints:
        assert await anext(aiter(hints)) == LOOK
        await here.gossip(room, "here", b"note", 10)
        async with asyncio.timeout(5):
            assert await anext(aiter(hints)) == LOOK
        await here.gossip(room, "here", b"note", 10)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await anext(aiter(hints))


async def test_a_process_that_says_nothing_is_forgotten(
    journals: tuple[RedisJournal, RedisJournal],
) -> None:
    here, there = journals
    room = new_room()
    await here.gossip(room, "here", b"note", 1)
    async with asyncio.timeout(10):
        while await there.gossip(room, "there", b"other", 10):
            pass


async def test_a_deleted_room_is_not_talked_about(
    journals: tuple[RedisJournal, RedisJournal],
) -> None:
    here, there = journals
    room = new_room()
    await here.gossip(room, "here", b"note", 10)
    await here.delete(room)
    assert await there.gossip(room, "there", b"other", 10) == {}


async def test_a_note_from_before_the_clock_was_set_back_is_forgotten_as_soon(
    journals: tuple[RedisJournal, RedisJournal],
    url: str,
    redis_servers: dict[str, RedisServer],
    cluster: RedisCluster,
) -> None:
    _, there = journals
    alone = {server.url: (server, new_room()) for server in redis_servers.values()}
    server, room = {**alone, cluster.url: (cluster.masters[0], cluster.room_at(0))}[url]
    ends = (int(time.time()) + 3600) * 1000
    server.ask("HSET", f"scopa:{{{room}}}:here", "gone", f"{ends}:note")
    assert await there.gossip(room, "there", b"other", 1) == {"gone": b"note"}
    async with asyncio.timeout(10):
        while await there.gossip(room, "there", b"other", 1):
            pass


async def test_the_key_is_kept_as_long_as_somebody_asks_for_it(
    journals: tuple[RedisJournal, RedisJournal],
    url: str,
    redis_servers: dict[str, RedisServer],
    cluster: RedisCluster,
) -> None:
    alone = [server for server in redis_servers.values() if server.url == url]
    servers = alone or cluster.masters
    for seconds in (10, 3600):
        await journals[0].shared_key(seconds)
        answers = [server.ask("TTL", "scopa:{servers}:secret") for server in servers]
        left = [int(answer[1:]) for answer in answers if answer.startswith(b":")]
        assert seconds - 9 < max(left) <= seconds

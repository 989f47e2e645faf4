"""What goes over a connection to Redis, and that nothing is sent twice behind our back."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from redis.asyncio import ConnectionPool, Redis, RedisCluster
from redis.asyncio.sentinel import Sentinel

from scopa_server.journal import LOOK
from scopa_server.journal.link import Broken, Refusal, Unreached
from scopa_server.journal.places import Address, read_place
from scopa_server.journal.redis import (
    RedisLink,
    build_pool,
    link_to,
    link_to_master,
    pack,
)
from scopa_server.journal.redis_journal import RedisJournal
from scopa_server.journal.sentinels import Sentinels
from server.journal.conftest import REDIS_KINDS
from support.drafts import chain, draft, new_room, store
from support.proxy import Proxy
from support.redis_server import RedisServer, free_port

HERE = Address("127.0.0.1", 6379)


def retries(connection: Any) -> int:
    """How often a connection connects again by itself."""
    count: int = connection.retry.get_retries()
    return count


@pytest.mark.parametrize(
    "url",
    [
        "redis://127.0.0.1:6379/0",
        "rediss://127.0.0.1:6379/0",
        "unix:///redis.sock",
        read_place("redis+sentinel://a/scopa").at(HERE),
        read_place("redis+sentinel://a/scopa").sentinel_at(HERE),
        read_place("rediss+cluster://a").at(HERE),
    ],
)
def test_our_connections_retry_nothing(url: str) -> None:
    connection = build_pool(url).make_connection()
    assert retries(connection) == 0
    assert connection.retry_on_error == []
    assert not connection.retry_on_timeout
    # The link has its own: see `build_pool`.
    assert connection.socket_timeout is None
    assert connection.socket_connect_timeout is None
    assert connection.health_check_interval == 0


def _made_by(pool: Any) -> int:
    return retries(pool.make_connection())


def test_what_the_library_would_do_is_known() -> None:
    # Pinned: if one of these changes, read what else changed before `build_pool` relies on it.
    library: Any = {"redis": Redis, "pool": ConnectionPool, "sentinel": Sentinel}
    eyes = library["sentinel"]([HERE])
    assert _made_by(library["redis"]().connection_pool) == 10
    assert _made_by(eyes.sentinels[0].connection_pool) == 10
    assert RedisCluster(host="127.0.0.1").retry.get_retries() == 10
    assert _made_by(library["redis"].from_url("redis://a").connection_pool) == 0
    assert _made_by(eyes.master_for("scopa").connection_pool) == 0
    assert _made_by(library["pool"].from_url("redis://a")) == 0


@pytest.fixture
async def proxy(redis_servers: dict[str, RedisServer]) -> AsyncIterator[Proxy]:
    async with Proxy(redis_servers[REDIS_KINDS[0]].port) as passing:
        yield passing


@pytest.fixture
async def link(proxy: Proxy) -> AsyncIterator[RedisLink]:
    made = link_to(proxy.url)
    yield made
    await made.drop()


async def test_a_lost_answer_is_told_not_asked_for_again(link: RedisLink, proxy: Proxy) -> None:
    await link.open()
    await link.send([("SET", "tally", 0)])
    await link.receive(1)
    proxy.lose_answer(b"INCR")
    await link.send([("INCR", "tally")])
    with pytest.raises(Broken):
        await link.receive(1)
    with pytest.raises(Broken):
        await link.send([("INCR", "tally")])
    await asyncio.wait_for(proxy.arrived.wait(), 10)
    await link.open()
    await link.send([("GET", "tally"), ("NONSENSE",)])
    tally, refusal = await link.receive(2)
    assert tally == b"1"
    assert isinstance(refusal, Refusal)


def watched(url: str) -> RedisLink:
    """A link to the master that a sentinel names."""
    place = read_place(url.replace("redis:", "redis+sentinel:").replace("/0", "/scopa"))
    return link_to_master(place, Sentinels(place, link_to))


@pytest.mark.parametrize("make", [link_to, watched])
async def test_a_refused_connection_is_tried_once(make: Callable[[str], RedisLink]) -> None:
    counted = 0

    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal counted
        counted += 1
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unreached):
            await make(f"redis://127.0.0.1:{port}/0").open()
    assert counted == 1


async def test_nobody_there_is_unreached() -> None:
    with pytest.raises(Unreached):
        await link_to(f"redis://127.0.0.1:{free_port()}/0").open()


def test_words_are_packed_as_the_library_would() -> None:
    command = ("SET", "clé", b"\r\n\0", 2**53, "")
    connection = build_pool("redis://a").make_connection()
    assert pack(command) == b"".join(connection.pack_command(*command))


async def test_a_script_that_was_forgotten_is_taught_again(
    redis_servers: dict[str, RedisServer],
) -> None:
    server = redis_servers[REDIS_KINDS[0]]
    journal, room, drafts = RedisJournal(read_place(server.url)), new_room(), chain([b""] * 2)
    await store(journal, room, drafts[:1])
    server.ask("SCRIPT", "FLUSH")
    await store(journal, room, drafts[1:])
    assert b"cmdstat_evalsha:" in server.ask("INFO", "commandstats")
    await journal.close()


async def test_who_may_teach_no_scripts_sends_them_whole(
    redis_servers: dict[str, RedisServer],
) -> None:
    server = redis_servers[REDIS_KINDS[0]]
    server.ask("ACL", "SETUSER", "pupil", "on", ">S3cret", "~*", "&*", "+@all", "-script")
    journal = RedisJournal(read_place(server.url.replace("//", "//pupil:S3cret@")))
    await store(journal, new_room(), [draft()])
    await journal.close()


async def test_a_subscription_ends_with_the_last_who_listens(
    redis_servers: dict[str, RedisServer],
) -> None:
    server = redis_servers[REDIS_KINDS[0]]
    journal, room = RedisJournal(read_place(server.url)), new_room()
    async with asyncio.timeout(10):
        async with journal.watch(room):
            async with journal.watch(room):
                pass
            assert room.encode() in server.ask("PUBSUB", "SHARDCHANNELS")
        while server.channels:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        async with journal.watch(room) as hints:
            assert await anext(hints) == LOOK
            await store(journal, room, [draft()])
            assert await anext(hints) == 1
    await journal.close()

"""What only the Redis store does: lost answers, servers that go and come, settings, expiry."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from scopa_server.journal import (
    LOOK,
    LOST,
    Journal,
    Snapshot,
    Stored,
    Taken,
    Touch,
    Unavailable,
    Unresolved,
)
from scopa_server.journal.places import read_place
from scopa_server.journal.redis_journal import RedisJournal
from server.journal.conftest import REDIS_KINDS
from support.drafts import DAY, after, chain, draft, new_room, store
from support.proxy import Proxy
from support.redis_server import RedisServer, programs

Open = Callable[[str], RedisJournal]


async def soon(event: asyncio.Event) -> None:
    """Wait for what must happen, rather than for ever."""
    await asyncio.wait_for(event.wait(), 10)


class Naps:
    """A sleep that only counts, and lets others run."""

    def __init__(self) -> None:
        self.count = 0
        self.reached = asyncio.Event()
        self.enough = 0

    async def __call__(self, seconds: float) -> None:
        assert 0 < seconds <= 1
        self.count += 1
        if self.enough and self.count >= self.enough:
            self.reached.set()
        await asyncio.sleep(0)

    async def more(self, count: int) -> None:
        self.enough = self.count + count
        self.reached.clear()
        await soon(self.reached)


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture
async def open_at(naps: Naps) -> AsyncIterator[Open]:
    journals: list[RedisJournal] = []

    def open_it(url: str) -> RedisJournal:
        journals.append(RedisJournal(read_place(url), sleep=naps, grace=0.01))
        return journals[-1]

    yield open_it
    for journal in journals:
        await journal.close()


@pytest.fixture(params=REDIS_KINDS)
def server(request: pytest.FixtureRequest, redis_servers: dict[str, RedisServer]) -> RedisServer:
    redis_servers[request.param].ask("FLUSHALL")
    return redis_servers[request.param]


@pytest.fixture(params=REDIS_KINDS)
def frail(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RedisServer]:
    """A server of the test's own, to stop and kill."""
    server = RedisServer(programs()[request.param], tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def proxy(server: RedisServer) -> AsyncIterator[Proxy]:
    async with Proxy(server.port) as passing:
        yield passing


@pytest.fixture
def journal(open_at: Open, server: RedisServer) -> Journal:
    return open_at(server.url)


@pytest.fixture
def far(open_at: Open, proxy: Proxy) -> Journal:
    """A journal with the proxy between it and the store."""
    return open_at(proxy.url)


def milliseconds(server: RedisServer, key: str) -> int:
    return int(server.ask("PTTL", key)[1:])


async def test_lost_answer_is_asked_for_again(far: Journal, proxy: Proxy) -> None:
    room, drafts = new_room(), chain([b"one", b"two"])
    await store(far, room, drafts[:1])
    proxy.lose_answer(drafts[1].id.encode())
    outcome = await far.append(room, drafts[1], header=None, ttl=DAY)
    assert proxy.lost.is_set()
    commits = await far.read(room)
    assert [(c.id, c.at) for c in commits][1:] == [(drafts[1].id, getattr(outcome, "at", None))]


async def test_lost_answer_is_asked_for_until_the_store_is_back(
    far: Journal, proxy: Proxy, naps: Naps
) -> None:
    room, first = new_room(), draft()
    await store(far, new_room(), [draft()])
    proxy.lose_answer(first.id.encode())
    proxy.refusing = True
    caller = asyncio.ensure_future(far.append(room, first, header=None, ttl=DAY))
    await soon(proxy.lost)
    await naps.more(3)
    with pytest.raises(Unavailable):
        await far.append(new_room(), draft(), header=None, ttl=DAY)
    assert not caller.done()
    proxy.refusing = False
    assert isinstance(await caller, Stored)
    assert len(await far.read(room)) == 1


async def test_request_that_arrives_late_changes_nothing(far: Journal, proxy: Proxy) -> None:
    room, first = new_room(), draft()
    proxy.hold_request(first.id.encode())
    outcome = await far.append(room, first, header=None, ttl=DAY)
    proxy.release()
    await soon(proxy.arrived)
    assert [c.at for c in await far.read(room)] == [getattr(outcome, "at", None)]


async def test_held_request_loses_to_another_process(
    far: Journal, journal: Journal, proxy: Proxy
) -> None:
    room, drafts = new_room(), chain([b""])
    await store(far, room, drafts)
    mine, theirs = after(drafts[0]), after(drafts[0])
    proxy.hold_request(mine.id.encode())
    proxy.refusing = True
    caller = asyncio.ensure_future(far.append(room, mine, header=None, ttl=DAY))
    await soon(proxy.lost)
    await store(journal, room, [theirs])
    proxy.refusing = False
    assert await caller == Taken()
    proxy.release()
    await soon(proxy.arrived)
    assert await journal.top(room) == (2, theirs.id)


async def test_only_the_unanswered_part_of_a_batch_is_sent_again(
    far: Journal, proxy: Proxy
) -> None:
    drafts = {new_room(): draft() for _ in range(30)}
    proxy.lose_answer(list(drafts.values())[20].id.encode())
    outcomes = await asyncio.gather(
        *(far.append(room, each, header=None, ttl=DAY) for room, each in drafts.items())
    )
    assert all(isinstance(outcome, Stored) for outcome in outcomes)
    assert await far.tops(drafts) == {room: (1, each.id) for room, each in drafts.items()}


async def test_closing_in_doubt_says_so(far: Journal, proxy: Proxy) -> None:
    first = draft()
    await store(far, new_room(), [draft()])
    proxy.lose_answer(first.id.encode())
    proxy.refusing = True
    caller = asyncio.ensure_future(far.append(new_room(), first, header=None, ttl=DAY))
    await soon(proxy.lost)
    await far.close()
    with pytest.raises(Unresolved):
        await caller


async def test_reads_survive_one_lost_answer(far: Journal, proxy: Proxy) -> None:
    room = new_room()
    await store(far, room, [draft()])
    proxy.lose_answer(b"XRANGE")
    assert len(await far.read(room)) == 1
    assert proxy.lost.is_set()


async def test_stopped_server_is_unavailable_and_its_return_is_noticed(
    frail: RedisServer, open_at: Open
) -> None:
    journal, room, drafts = open_at(frail.url), new_room(), chain([b"one", b"two"])
    await store(journal, room, drafts[:1])
    frail.kill()
    with pytest.raises(Unavailable):
        await journal.read(room)
    # Not before the loop has seen that the connection is gone: else the append is in doubt.
    with pytest.raises(Unavailable):
        await journal.append(room, drafts[1], header=None, ttl=DAY)
    with pytest.raises(Unavailable):
        async with journal.watch(room):
            pass
    frail.start()
    await store(journal, room, drafts[1:])
    assert [c.payload for c in await journal.read(room)] == [b"one", b"two"]


async def test_idle_connections_survive_a_restart(frail: RedisServer, open_at: Open) -> None:
    journal, room, drafts = open_at(frail.url), new_room(), chain([b"one", b"two"])
    await store(journal, room, drafts[:1])
    frail.restart()
    assert len(await journal.read(room)) == 1
    await store(journal, room, drafts[1:])


async def test_watchers_are_told_to_look_after_a_restart(frail: RedisServer, open_at: Open) -> None:
    journal, room, drafts = open_at(frail.url), new_room(), chain([b"one", b"two"])
    async with asyncio.timeout(10), journal.watch(room) as hints:
        assert await anext(hints) == LOOK
        frail.restart()
        assert await anext(hints) == LOOK
        await store(journal, room, drafts[:1])
        assert await anext(hints) == 1


async def test_another_process_is_heard(
    journal: Journal, open_at: Open, server: RedisServer
) -> None:
    room, drafts = new_room(), chain([b"", b""])
    other = open_at(server.url)
    async with asyncio.timeout(5), journal.watch(room) as hints:
        assert await anext(hints) == LOOK
        for each in drafts:
            await store(other, room, [each])
            assert await anext(hints) == each.number


async def test_nothing_is_published_that_nobody_else_hears(
    journal: Journal, open_at: Open, server: RedisServer
) -> None:
    room, drafts = new_room(), chain([b""] * 3)
    other = open_at(server.url)
    async with asyncio.timeout(5), journal.watch(room) as hints:
        assert await anext(hints) == LOOK
        before = server.published
        await store(journal, room, drafts[:1])
        assert await anext(hints) == 1
        assert server.published == before
        async with other.watch(room) as theirs:
            assert await anext(theirs) == LOOK
            await store(journal, room, drafts[1:2])
            assert await anext(theirs) == await anext(hints) == 2
        await store(other, room, drafts[2:])
        assert await anext(hints) == 3


async def test_others_hear_of_whom_the_store_has_cut_off_unawares(
    far: Journal, journal: Journal, proxy: Proxy, server: RedisServer
) -> None:
    room, drafts = new_room(), chain([b""] * 2)
    async with asyncio.timeout(10), far.watch(room) as hints:
        assert await anext(hints) == LOOK
        proxy.silent = True
        server.ask("CLIENT", "KILL", "TYPE", "pubsub")
        async with journal.watch(room) as theirs:
            assert await anext(theirs) == LOOK
            await store(far, room, drafts[:1])
            assert await anext(theirs) == 1
            proxy.hold_request(drafts[1].id.encode())
            await store(far, room, drafts[1:])
            assert await anext(theirs) == 2
            proxy.release()
            await soon(proxy.arrived)


async def test_expiry_of_all_keys_is_renewed_together(
    journal: Journal, server: RedisServer
) -> None:
    room, drafts = new_room(), chain([b"", b""])
    log, about = f"scopa:{{{room}}}:log", f"scopa:{{{room}}}:about"

    def both_expire_in(seconds: int) -> bool:
        left = [milliseconds(server, key) for key in (log, about)]
        return all((seconds - 20) * 1000 < each <= seconds * 1000 for each in left)

    await journal.append(room, drafts[0], header=None, ttl=1000)
    await journal.snapshot(room, Snapshot(1, drafts[0].id, b"state"))
    assert both_expire_in(1000)
    await store(journal, room, drafts[1:], ttl=2000)
    assert both_expire_in(2000)
    await journal.touch({room: Touch(3000, 1)})
    assert both_expire_in(3000)
    await journal.delete(room)
    assert server.ask("DBSIZE") == b":0\r\n"


async def test_lost_tail_is_noticed_by_the_next_append(
    journal: Journal, server: RedisServer
) -> None:
    room, drafts = new_room(), chain([b""] * 3)
    await store(journal, room, drafts)
    await journal.snapshot(room, Snapshot(3, drafts[2].id, b"state"))
    server.ask("DEL", f"scopa:{{{room}}}:log")
    await store(journal, room, drafts[:2])
    assert await journal.append(room, after(drafts[2]), header=None, ttl=DAY) == Taken()
    assert await journal.latest_snapshot(room) is None


async def test_snapshot_beside_the_log_gives_way(journal: Journal, server: RedisServer) -> None:
    room, drafts = new_room(), chain([b""] * 2)
    await store(journal, room, drafts)
    server.ask("HSET", f"scopa:{{{room}}}:about", "number", "9", "id", "fork", "snapshot", "x")
    assert await journal.latest_snapshot(room) is None
    await journal.snapshot(room, Snapshot(1, drafts[0].id, b"state"))
    assert await journal.latest_snapshot(room) == Snapshot(1, drafts[0].id, b"state")


async def test_full_memory_is_unavailable_and_repeats_are_recognised(
    journal: Journal, server: RedisServer
) -> None:
    room, drafts = new_room(), chain([b"one", b"two"])
    await store(journal, room, drafts[:1])
    server.ask("CONFIG", "SET", "maxmemory", "1")
    try:
        with pytest.raises(Unavailable, match="store refused"):
            await journal.append(room, drafts[1], header=None, ttl=DAY)
        await store(journal, room, drafts[:1])
        await journal.touch({room: Touch(DAY, 1)})
    finally:
        server.ask("CONFIG", "SET", "maxmemory", "0")
    assert len(await journal.read(room)) == 1
    await store(journal, room, drafts[1:])


async def test_replica_is_unavailable(frail: RedisServer, open_at: Open) -> None:
    journal, first = open_at(frail.url), draft()
    await journal.ping()
    frail.ask("CONFIG", "SET", "replica-serve-stale-data", "yes")
    frail.ask("REPLICAOF", "127.0.0.1", "1")
    with pytest.raises(Unavailable, match="store refused"):
        await journal.append(new_room(), first, header=None, ttl=DAY)
    frail.ask("REPLICAOF", "NO", "ONE")
    await store(journal, new_room(), [first])


async def test_a_log_that_is_none_hides_no_other(journal: Journal, server: RedisServer) -> None:
    room, broken, first = new_room(), new_room(), draft()
    await store(journal, room, [first])
    server.ask("SET", f"scopa:{{{broken}}}:log", "no stream")
    assert await journal.tops([broken, room]) == {room: (1, first.id)}
    with pytest.raises(Unavailable, match="store refused"):
        await journal.tops([broken])


async def test_settings_that_endanger_matches_are_told(
    journal: Journal, server: RedisServer
) -> None:
    server.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "appendonly", "no")
    try:
        eviction, persistence = await journal.check()
        server.ask("CONFIG", "SET", "save", "60 1")
        seldom = await journal.check()
    finally:
        settings = ("maxmemory-policy", "noeviction", "appendonly", "yes", "save", "")
        server.ask("CONFIG", "SET", *settings)
    assert "allkeys-lru" in eviction
    assert "keeps nothing" in persistence
    assert "from time to time" in seldom[1]
    assert await journal.check() == []


async def test_refused_append_tells_nothing_of_its_payload(
    journal: Journal, server: RedisServer
) -> None:
    room, first = new_room(), draft(payload=b"S3cret")
    server.ask("SET", f"scopa:{{{room}}}:log", "no stream")
    with pytest.raises(Unavailable) as caught:
        await journal.append(room, first, header=b"S3cret", ttl=DAY)
    assert "S3cret" not in repr(caught.value) + repr(caught.value.__cause__)


@pytest.mark.parametrize("kind", REDIS_KINDS)
async def test_a_header_lost_alone_is_told(
    kind: str, redis_servers: dict[str, RedisServer], open_at: Open
) -> None:
    journal, room = open_at(redis_servers[kind].url), new_room()
    await store(journal, room, [draft()], header=b"header")
    redis_servers[kind].ask("DEL", f"scopa:{{{room}}}:about")
    assert await journal.header(room) == LOST

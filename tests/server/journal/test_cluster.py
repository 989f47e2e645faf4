"""What a Redis Cluster does to rooms: slots on their way, slots gone, masters killed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from scopa_server.journal import LOOK, Stored, StoreRefused, Touch, Unavailable
from scopa_server.journal.places import read_place
from scopa_server.journal.redis_journal import RedisJournal
from scopa_server.journal.scripts import about_key, log_key, slot_of
from server.journal.conftest import REDIS_KINDS
from support.drafts import DAY, after, chain, draft, new_room, store
from support.redis_cluster import MASTERS, RedisCluster, move_keys
from support.redis_server import RedisServer, free_port, in_step, programs

PATIENCE = 30

Open = Callable[..., RedisJournal]


class Pauses:
    """A sleep that lasts until the test says so."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.over = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.begun.set()
        await self.over.wait()
        await asyncio.sleep(min(seconds, 0.05))


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    """Opens journals that are closed after the test."""
    journals: list[RedisJournal] = []

    def open_it(url: str, **how: Pauses) -> RedisJournal:
        journals.append(RedisJournal(read_place(url), grace=0.01, **how))
        return journals[-1]

    yield open_it
    for journal in journals:
        await journal.close()


@pytest.fixture
def journal(opened: Open, cluster: RedisCluster) -> RedisJournal:
    return opened(cluster.url)


def keys_of(room: str) -> tuple[str, str]:
    return log_key(room), about_key(room)


def test_each_slot_is_taken_for_that_of_the_master_that_has_it(cluster: RedisCluster) -> None:
    for number in range(MASTERS):
        low, high = cluster.slots_of(number)
        assert {cluster.number_of(slot) for slot in range(low, high)} == {number}


async def test_rooms_are_spread_and_found_again(
    journal: RedisJournal, opened: Open, cluster: RedisCluster
) -> None:
    cluster.flush()
    rooms = {cluster.room_at(number % MASTERS): draft() for number in range(30)}
    for room, first in rooms.items():
        await store(journal, room, [first])
    assert all(server.ask("DBSIZE") == b":20\r\n" for server in cluster.masters)
    other = opened(cluster.url)
    assert await other.tops(rooms) == {room: (1, first.id) for room, first in rooms.items()}
    assert {room async for room in other.rooms()} == set(rooms)
    assert await other.check() == []


async def test_a_room_is_followed_to_the_node_that_has_its_slot_now(
    journal: RedisJournal, cluster: RedisCluster
) -> None:
    room, drafts = cluster.room_at(0), chain([b""] * 3)
    source, target = cluster.masters[:2]
    await store(journal, room, drafts[:1])
    async with asyncio.timeout(PATIENCE), journal.watch(room) as hints:
        assert await anext(hints) == LOOK
        with cluster.moving(slot_of(room), source, target):
            move_keys(source, target, *keys_of(room))
        assert len(await journal.read(room)) == 1
        await store(journal, room, drafts[1:2])
        # Told to look once it is listened to at the new node.
        assert await anext(hints) in {LOOK, 2}
        await store(journal, room, drafts[2:])
        while await anext(hints) != 3:
            pass
    assert await journal.tops([room]) == {room: (3, drafts[2].id)}


async def test_a_room_that_is_still_there_is_used_there(
    journal: RedisJournal, cluster: RedisCluster
) -> None:
    room, drafts = cluster.room_at(1), chain([b""] * 2)
    source, target = cluster.masters[1:]
    await store(journal, room, drafts[:1])
    with cluster.moving(slot_of(room), source, target):
        await store(journal, room, drafts[1:])
        assert len(await journal.read(room)) == 2
        await journal.touch({room: Touch(DAY, 1)})
        await journal.gossip(room, "here", b"note", 10)
        move_keys(source, target, *keys_of(room))


async def test_a_room_that_has_gone_ahead_is_asked_for_there(
    journal: RedisJournal, opened: Open, cluster: RedisCluster
) -> None:
    room, drafts = cluster.room_at(1), chain([b""] * 3)
    source, target = cluster.masters[1:]
    await store(journal, room, drafts[:1])
    with cluster.moving(slot_of(room), source, target):
        move_keys(source, target, *keys_of(room))
        await store(journal, room, drafts[1:2])
        assert len(await journal.read(room)) == 2
        other = opened(cluster.url)
        await store(other, room, drafts[2:])
        assert await other.tops([room]) == {room: (3, drafts[2].id)}
        await other.touch({room: Touch(DAY, 1)})
        assert await other.gossip(room, "here", b"note", 10) == {}


@pytest.mark.parametrize("begun", [True, False])
async def test_a_room_in_between_is_waited_for(
    begun: bool, opened: Open, cluster: RedisCluster
) -> None:
    pauses = Pauses()
    journal = opened(cluster.url, sleep=pauses)
    room, drafts = cluster.room_at(1), chain([b""] * 2)
    source, target = cluster.masters[1:]
    if begun:
        await store(journal, room, drafts[:1])
    with cluster.moving(slot_of(room), source, target):
        if begun:
            move_keys(source, target, log_key(room))
        new = drafts[begun]
        caller = asyncio.ensure_future(journal.append(room, new, header=b"new", ttl=DAY))
        async with asyncio.timeout(PATIENCE):
            await pauses.begun.wait()
        assert not caller.done()
        if begun:
            move_keys(source, target, about_key(room))
    pauses.over.set()
    async with asyncio.timeout(PATIENCE):
        assert isinstance(await caller, Stored)
    assert [commit.id for commit in await journal.read(room)] == [
        each.id for each in drafts[: begun + 1]
    ]


async def test_a_subscription_ends_with_the_last_who_listens(
    journal: RedisJournal, cluster: RedisCluster
) -> None:
    rooms = [cluster.room_at(number) for number in range(MASTERS)]
    for room, server in zip(rooms, cluster.masters, strict=True):
        async with journal.watch(room):
            async with journal.watch(room):
                assert room.encode() in server.ask("PUBSUB", "SHARDCHANNELS")
            assert room.encode() in server.ask("PUBSUB", "SHARDCHANNELS")
        async with asyncio.timeout(PATIENCE):
            while server.ask("PUBSUB", "SHARDCHANNELS") != b"*0\r\n":  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def test_a_server_that_is_no_cluster_is_refused_with_words(
    opened: Open, redis_servers: dict[str, RedisServer]
) -> None:
    alone = redis_servers[REDIS_KINDS[0]]
    journal = opened(alone.url.replace("redis:", "redis+cluster:"))
    with pytest.raises(StoreRefused, match="no Redis Cluster: name it with redis://"):
        await journal.ping()


async def test_one_server_of_a_cluster_is_warned_about(opened: Open, cluster: RedisCluster) -> None:
    (warning,) = await opened(cluster.masters[0].url).check()
    assert "name it with redis+cluster://" in warning


async def test_nobody_there_is_unavailable(opened: Open) -> None:
    journal = opened(f"redis+cluster://127.0.0.1:{free_port()},127.0.0.1:{free_port()}")
    room = new_room()
    with pytest.raises(Unavailable):
        await journal.append(room, draft(), header=None, ttl=DAY)
    with pytest.raises(Unavailable):
        await journal.ping()
    with pytest.raises(Unavailable):
        await journal.tops([room])
    with pytest.raises(Unavailable):
        async with journal.watch(room):
            pass


async def test_the_rooms_of_a_server_that_is_gone_wait_and_others_go_on(
    opened: Open, tmp_path: Path
) -> None:
    made = RedisCluster(programs()[REDIS_KINDS[0]], tmp_path)
    try:
        made.start()
        for server in made.masters:
            # Else the others serve nothing while a slot has no master.
            server.ask("CONFIG", "SET", "cluster-require-full-coverage", "no")
        journal = opened(made.url)
        rooms = {made.room_at(number): draft() for number in range(MASTERS)}
        for room, first in rooms.items():
            await store(journal, room, [first])
        gone, *others = rooms
        made.kill(0)
        with pytest.raises(Unavailable):
            await journal.read(gone)
        assert set(await journal.tops(rooms)) == set(others)
        await journal.touch({room: Touch(DAY, 1) for room in rooms})
        await journal.ping()
        assert await journal.check() == [
            "One of the store's servers doesn't answer; its rooms wait."
        ]
        assert await opened(made.url).header(others[0]) == b"header"
        made.masters[0].start()
        async with asyncio.timeout(PATIENCE):
            assert await persistently(journal, gone, after(rooms[gone])) == 2
    finally:
        made.stop()


@pytest.fixture(params=REDIS_KINDS)
def replicated(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RedisCluster]:
    """A cluster of the test's own with a replica of each master."""
    made = RedisCluster(programs()[request.param], tmp_path, replicas=True)
    try:
        made.start()
        yield made
    finally:
        made.stop()


async def test_a_killed_master_is_followed_by_its_replica(
    replicated: RedisCluster, opened: Open
) -> None:
    journal = opened(replicated.url)
    rooms = {replicated.room_at(number % MASTERS): chain([b""] * 3) for number in range(12)}
    for room, drafts in rooms.items():
        await store(journal, room, drafts[:1])
    elsewhere, here = replicated.room_at(1), replicated.room_at(0)
    await in_step(replicated.masters[0], replicated.servers[MASTERS])
    async with asyncio.timeout(2 * PATIENCE), journal.watch(here) as hints:
        assert await anext(hints) == LOOK
        replicated.kill(0)
        await store(journal, elsewhere, [draft()])
        await journal.ping()
        for room, drafts in rooms.items():
            assert await persistently(journal, room, drafts[1]) == 2
        assert set(await journal.tops(rooms)) == set(rooms)
        # Told to look once it is listened to at the new master.
        assert await anext(hints) == LOOK
        await store(journal, here, [draft()])
        while await anext(hints) != 1:
            pass


async def persistently(journal: RedisJournal, room: str, new: object) -> int:
    """Append as people do, again while the store can't; the number of commits then."""
    while True:
        try:
            await journal.append(room, new, header=None, ttl=DAY)  # type: ignore[arg-type]
            return len(await journal.read(room))
        except Unavailable:
            await asyncio.sleep(0.05)

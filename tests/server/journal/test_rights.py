"""Users of a Redis who may not do everything, and who they must be."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from scopa_server.journal import LOOK, Snapshot, Touch, Unavailable
from scopa_server.journal.places import read_place
from scopa_server.journal.redis_journal import RedisJournal
from server.journal.conftest import REDIS_KINDS
from support.drafts import DAY, draft, new_room, store
from support.redis_cluster import RedisCluster
from support.redis_sentinel import RedisSentinel
from support.redis_server import RedisServer, programs

Open = Callable[[str], RedisJournal]


@pytest.fixture
async def open_at() -> AsyncIterator[Open]:
    journals: list[RedisJournal] = []

    def open_it(url: str) -> RedisJournal:
        journals.append(RedisJournal(read_place(url), grace=0.01))
        return journals[-1]

    yield open_it
    for journal in journals:
        await journal.close()


def rules() -> list[list[str]]:
    """What docs/hosts.md tells to say: to servers that hold rooms, and to sentinels."""
    guide = (Path(__file__).parents[3] / "docs/hosts.md").read_text()
    found: list[str] = re.findall("ACL SETUSER .*PASSWORD.*", guide)
    return [rule.replace("PASSWORD", "S3cret").split() for rule in found]


@pytest.fixture(params=REDIS_KINDS)
def server(request: pytest.FixtureRequest, redis_servers: dict[str, RedisServer]) -> RedisServer:
    redis_servers[request.param].ask("FLUSHALL")
    return redis_servers[request.param]


@pytest.mark.parametrize("kind", REDIS_KINDS)
async def test_the_rights_that_are_enough_at_a_sentinel(
    kind: str, open_at: Open, tmp_path: Path
) -> None:
    _, rule = rules()
    watched = RedisSentinel(programs()[kind], tmp_path)
    try:
        watched.start()
        assert watched.eye.ask(*rule) == b"+OK\r\n"
        journal = open_at(f"{watched.url}?sentinel_username=scopa&sentinel_password=S3cret")
        await store(journal, new_room(), [draft()])
        async with asyncio.timeout(10):
            while b" sub=2 " not in watched.eye.ask("CLIENT", "LIST"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert watched.eye.ask("ACL", "LOG") == b"*0\r\n"
    finally:
        watched.stop()


@pytest.mark.parametrize("clustered", [False, True])
async def test_the_rights_that_hosts_are_told_to_give_are_enough(
    clustered: bool, server: RedisServer, open_at: Open, request: pytest.FixtureRequest
) -> None:
    rule, _ = rules()
    servers, url = [server], server.url
    if clustered:
        cluster: RedisCluster = request.getfixturevalue("cluster")
        servers, url = cluster.masters, cluster.url
    for each in servers:
        assert each.ask(*rule) == b"+OK\r\n"
        assert each.ask("ACL", "LOG", "RESET") == b"+OK\r\n"
    journal, room, first = open_at(url.replace("//", "//scopa:S3cret@")), new_room(), draft()
    assert await journal.check() == []
    async with asyncio.timeout(10), journal.watch(room), journal.published():
        await store(journal, room, [first], header=b"header")
        await journal.gossip(room, "me", b"note", 10)
        await journal.snapshot(room, Snapshot(1, first.id, b"state"))
        await journal.touch({room: Touch(DAY, 1)})
        await journal.publish(await journal.shared_key(10))
    assert await journal.latest_snapshot(room) is not None
    assert (await journal.header(room), await journal.shown(room)) == (b"header", 1)
    commits = await journal.read(room)
    assert await journal.tops([room]) == {room: await journal.top(room)}
    assert room in [each async for each in journal.rooms()]
    await journal.delete(room)
    assert await journal.restore(room, commits, header=b"header", ttl=DAY)
    for each in servers:
        assert each.ask("ACL", "LOG") == b"*0\r\n"


async def test_store_that_hides_its_settings_is_used_with_a_word(
    server: RedisServer, open_at: Open
) -> None:
    server.ask("ACL", "SETUSER", "guest", "on", ">S3cret", "~*", "&*", "+@all", "-config", "-info")
    journal = open_at(server.url.replace("//", "//guest:S3cret@"))
    assert len(await journal.check()) == 1
    await store(journal, new_room(), [draft()])


async def test_publishing_may_be_forbidden(server: RedisServer, open_at: Open) -> None:
    server.ask("ACL", "SETUSER", "mute", "on", ">S3cret", "~*", "resetchannels", "+@all")
    journal = open_at(server.url.replace("//", "//mute:S3cret@"))
    await store(journal, new_room(), [draft()])
    with pytest.raises(Unavailable, match="store refused"):
        async with journal.watch(new_room()):
            pass


async def test_who_may_not_look_for_listeners_publishes_in_any_case(
    server: RedisServer, open_at: Open
) -> None:
    server.ask("ACL", "SETUSER", "blind", "on", ">S3cret", "~*", "&*", "+@all", "-pubsub")
    journal, room = open_at(server.url.replace("//", "//blind:S3cret@")), new_room()
    async with asyncio.timeout(5), journal.watch(room) as hints:
        assert await anext(hints) == LOOK
        before = server.published
        await store(journal, room, [draft()])
        assert await anext(hints) == 1
        assert server.published == before + 1


async def test_wrong_password_is_unavailable_and_not_told(
    server: RedisServer, open_at: Open
) -> None:
    journal = open_at(server.url.replace("//", "//guest:Wr0ng@"))
    with pytest.raises(Unavailable) as caught:
        await journal.append(new_room(), draft(), header=None, ttl=DAY)
    assert "Wr0ng" not in str(caught.value)

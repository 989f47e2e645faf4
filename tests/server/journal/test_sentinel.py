"""A store watched over by Sentinel: its master is found, and found again when it is another."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from signal import SIGCONT, SIGSTOP

import pytest
import structlog

from scopa_server.journal import LOOK, Stored, Unavailable
from scopa_server.journal.interface import Draft, NotAdmitted
from scopa_server.journal.places import read_place
from scopa_server.journal.redis_journal import RedisJournal
from scopa_server.journal.scripts import log_key
from server.journal.conftest import REDIS_KINDS
from support.drafts import DAY, chain, draft, new_room, store
from support.redis_sentinel import SERVICE, RedisSentinel
from support.redis_server import free_port, in_step, programs

PATIENCE = 60


@pytest.fixture(params=REDIS_KINDS)
def watched(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RedisSentinel]:
    made = RedisSentinel(programs()[request.param], tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture
async def journal(watched: RedisSentinel) -> AsyncIterator[RedisJournal]:
    made = RedisJournal(read_place(watched.url), grace=0.01)
    yield made
    await made.close()


async def begun(watched: RedisSentinel, journal: RedisJournal) -> tuple[str, list[Draft]]:
    """A room, the first of its two commits at the replica as well."""
    room, drafts = new_room(), chain([b""] * 2)
    await store(journal, room, drafts[:1])
    await in_step(watched.master, watched.replica)
    return room, drafts


async def test_a_killed_master_is_followed_by_its_replica(
    watched: RedisSentinel, journal: RedisJournal
) -> None:
    room, drafts = await begun(watched, journal)
    async with asyncio.timeout(PATIENCE), journal.watch(room) as hints:
        assert await anext(hints) == LOOK
        watched.kill_master()
        with pytest.raises(Unavailable):
            await journal.read(room)
        assert await anext(hints) == LOOK
        await persistently(journal, room, drafts[1])
        while await anext(hints) != 2:
            pass
    assert watched.replica.ask("XLEN", log_key(room)) == b":2\r\n"
    assert [commit.id for commit in await journal.read(room)] == [d.id for d in drafts[:2]]


async def test_a_master_that_was_replaced_is_left_though_it_answers(
    watched: RedisSentinel, journal: RedisJournal
) -> None:
    room, drafts = await begun(watched, journal)
    watched.replace_master()
    async with asyncio.timeout(PATIENCE):
        # Until a sentinel has said so, what it takes is lost; each try is a room of its own.
        while True:
            tried = new_room()
            await persistently(journal, tried, draft())
            if watched.replica.ask("EXISTS", log_key(tried)) == b":1\r\n":
                break
        await persistently(journal, room, drafts[1])
    assert b"master" in watched.master.ask("ROLE")
    assert watched.master.ask("XLEN", log_key(room)) == b":1\r\n"
    assert watched.replica.ask("XLEN", log_key(room)) == b":2\r\n"
    assert [commit.id for commit in await journal.read(room)] == [d.id for d in drafts]


async def test_what_a_master_answers_after_it_was_replaced_counts_for_nothing(
    watched: RedisSentinel, journal: RedisJournal
) -> None:
    room, drafts = await begun(watched, journal)
    asked = journal.batches
    async with asyncio.timeout(PATIENCE):
        with structlog.testing.capture_logs() as logs:
            watched.master.send(SIGSTOP)
            outcome = journal.append(room, drafts[1], header=None, ttl=DAY)
            while journal.batches == asked:  # noqa: ASYNC110
                await asyncio.sleep(0)
            await asyncio.to_thread(watched.promote)
            while "journal_master_replaced" not in str(logs):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        watched.master.send(SIGCONT)
        assert isinstance(await outcome, Stored)
    assert watched.replica.ask("XLEN", log_key(room)) == b":2\r\n"


async def persistently(journal: RedisJournal, room: str, new: object) -> None:
    """Append as people do, again while the store can't."""
    while True:
        try:
            outcome = await journal.append(room, new, header=None, ttl=DAY)  # type: ignore[arg-type]
        except Unavailable:
            await asyncio.sleep(0.05)
        else:
            assert isinstance(outcome, Stored)
            return


async def test_who_is_no_master_is_not_used(watched: RedisSentinel, journal: RedisJournal) -> None:
    await store(journal, new_room(), [draft()])
    watched.master.ask("REPLICAOF", "127.0.0.1", str(watched.replica.port))
    room = new_room()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Unavailable, match="store refused: READONLY"):
            await journal.append(room, draft(), header=None, ttl=DAY)
        # The sentinel still names it; whoever connects asks what it is.
        with pytest.raises(Unavailable, match="isn't master"):
            await journal.append(room, draft(), header=None, ttl=DAY)
    watched.master.ask("REPLICAOF", "NO", "ONE")
    await store(journal, room, [draft()])


async def test_an_unknown_service_is_unavailable(watched: RedisSentinel) -> None:
    journal = RedisJournal(read_place(watched.url.replace(f"/{SERVICE}/", "/other/")))
    with pytest.raises(Unavailable, match="knows no such service"):
        await journal.ping()
    await journal.close()


async def test_a_sentinel_that_lets_nobody_in_says_why(watched: RedisSentinel) -> None:
    secrets = "?sentinel_username=Ugo&sentinel_password=wrong"
    journal = RedisJournal(read_place(f"{watched.url}{secrets}"))
    with pytest.raises(NotAdmitted, match="doesn't take this user and password"):
        await journal.ping()
    await journal.close()


async def test_no_sentinel_is_unavailable() -> None:
    journal = RedisJournal(read_place(f"redis+sentinel://127.0.0.1:{free_port()}/scopa"))
    with pytest.raises(Unavailable, match="no sentinel answers"):
        await journal.append(new_room(), draft(), header=None, ttl=DAY)
    await journal.close()

"""The stores that the journal's tests run against."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from scopa_server.journal import Journal, open_journal
from support.redis_cluster import RedisCluster
from support.redis_server import RedisServer, programs

REDIS_KINDS = sorted(programs())
Open = Callable[[], Awaitable[Journal]]


@pytest.fixture(scope="session")
def redis_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, RedisServer]]:
    """One running server of each kind for the whole session."""
    servers = {
        kind: RedisServer(program, tmp_path_factory.mktemp(kind))
        for kind, program in programs().items()
    }
    for server in servers.values():
        server.start()
    yield servers
    for server in servers.values():
        server.stop()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisCluster]:
    """A cluster of three masters for the whole session."""
    made = RedisCluster(programs()[REDIS_KINDS[0]], tmp_path_factory.mktemp("cluster"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(params=["sqlite", *REDIS_KINDS, "cluster"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store, of every kind there is."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path}/data/scopa.db"
    if request.param == "cluster":
        cluster: RedisCluster = request.getfixturevalue("cluster")
        cluster.flush()
        return cluster.url
    servers: dict[str, RedisServer] = request.getfixturevalue("redis_servers")
    servers[request.param].ask("FLUSHALL")
    return servers[request.param].url


@pytest.fixture
async def open_again(url: str) -> AsyncIterator[Open]:
    """Opens the store once more; what was opened is closed after the test."""
    journals: list[Journal] = []

    async def open_it() -> Journal:
        journals.append(await open_journal(url))
        return journals[-1]

    yield open_it
    for journal in journals:
        await journal.close()


@pytest.fixture
async def journal(open_again: Open) -> Journal:
    """A journal of every kind there is."""
    return await open_again()

"""Real servers on real stores, each in a folder of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.redis_cluster import RedisCluster
from support.redis_server import RedisServer, programs
from support.server_process import ITSELF, Program, Serve, ServerProcess

REDIS_KINDS = sorted(programs())


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts servers; whatever still runs after the test is ended."""
    started: list[ServerProcess] = []

    def start(
        *options: str, name: str = "server", store: str | None = None, program: Program = ITSELF
    ) -> ServerProcess:
        server = ServerProcess(tmp_path / name, *options, store=store, program=program)
        started.append(server)
        server.start()
        return server

    yield start
    for server in started:
        server.kill()


def _running(tmp_path: Path, kind: str) -> RedisServer:
    folder = tmp_path / kind
    folder.mkdir()
    server = RedisServer(programs()[kind], folder)
    server.start()
    return server


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis or Valkey of the test's own."""
    server = _running(tmp_path, REDIS_KINDS[0])
    yield server
    server.kill()


@pytest.fixture(params=["sqlite", *REDIS_KINDS])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty store of every kind there is."""
    if request.param == "sqlite":
        yield f"sqlite:{tmp_path}/scopa.db"
        return
    server = _running(tmp_path, request.param)
    yield server.url
    server.kill()


@pytest.fixture(params=[*programs(), "cluster"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a store that several servers can share, of every kind there is."""
    folder, kinds = tmp_path / "store", programs()
    folder.mkdir()
    made = (
        RedisCluster(next(iter(kinds.values())), folder)
        if request.param == "cluster"
        else RedisServer(kinds[request.param], folder)
    )
    try:
        made.start()
        yield made.url
    finally:
        made.stop()

"""Where faults happen: two servers on one Redis or one on SQLite, a proxy between every pair."""

import asyncio
import re
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple, Self

from msgspec import Struct
from msgspec.structs import astuple

from scopa_server.journal import open_journal
from scopa_server.journal.interface import Commit
from support.fault_proxy import FaultProxy
from support.redis_server import RedisServer, programs
from support.server_process import NotStarted, Program, ServerProcess

from .table import Table

UNSTEADY: Final[Program] = ("-m", "support.unsteady_server")
HURRIED: Final[Program] = (*UNSTEADY, "--hurried")
QUICK: Final = ("--max-frames-per-second", "1000")
"""Some play faster than anybody would."""
TRIES: Final = 10
STORE_LINES: Final = 10
"""Connections to the store that a server has at most: eight to ask, one to append, one for news."""
LISTENS: Final = "0A"
GOES_ON: Final = frozenset({"01", "02", "03", LISTENS})
"""States of a socket, as the system numbers them, that neither side has ended."""
LOOKS: Final = 10
"""Looks at what a server holds before anything happens to it."""
PATIENCE: Final = 120.0
"""Seconds that anything may take before it is called a failure."""


class Footprint(Struct, frozen=True):
    """What a server holds when nobody is there; its connections to the store apart."""

    tasks: int
    files: int
    ending: int = 0
    """Connections that the other side has ended."""
    rooms: int = 0
    connections: int = 0


class Stage:
    """Servers, store and proxies. `links` lead to the store, `doors` to the servers."""

    def __init__(self, folder: Path, kind: str, seed: int, program: Program = UNSTEADY) -> None:
        self.folder = folder
        self.kind = kind
        self.seed = seed
        self._program = program
        self.redis: RedisServer | None = None
        self.links: list[FaultProxy] = []
        self.doors: list[FaultProxy] = []
        self.servers: list[ServerProcess] = []
        self._footprints: dict[int, Footprint] = {}
        self._opened = 0
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        try:
            if self.kind == "sqlite":
                await self._add_server("one", None)
            else:
                await self._open_redis()
                for name in ("one", "other"):
                    await self._add_server(name, await self._link())
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _open_redis(self) -> None:
        folder = self.folder / "redis"
        folder.mkdir(parents=True)
        self.redis = redis = RedisServer(programs()[self.kind], folder, appendfsync="always")
        self._stack.callback(redis.kill)
        await asyncio.to_thread(redis.start)

    async def _link(self) -> FaultProxy:
        assert self.redis is not None
        link = await self._stack.enter_async_context(FaultProxy(self.redis.port))
        self.links.append(link)
        return link

    async def _add_server(self, name: str, link: FaultProxy | None) -> None:
        store = link.url if link else None
        server = ServerProcess(self.folder / name, *QUICK, store=store, program=self._program)
        self.servers.append(server)
        self._stack.callback(server.kill)
        await asyncio.to_thread(server.start)
        self.doors.append(await self._stack.enter_async_context(FaultProxy(server.port)))
        await self._warm_up(server)

    @property
    def urls(self) -> list[str]:
        """Where people come in."""
        return [f"ws://127.0.0.1:{door.port}" for door in self.doors]

    @property
    def store(self) -> RedisServer:
        """The Redis there is."""
        assert self.redis is not None
        return self.redis

    # Servers

    async def start(self, server: ServerProcess) -> None:
        """Start a server again; as a service is, once more if its store is slow to answer."""
        for _ in range(TRIES):
            try:
                return await asyncio.to_thread(server.start)
            except NotStarted as trouble:
                if "doesn't answer" not in trouble.words.splitlines()[-1]:
                    raise
        raise TimeoutError

    async def _warm_up(self, server: ServerProcess) -> None:
        """What is made at the first use and kept is part of what a server holds."""
        # A number of its own: the same token would only find the room of the other server.
        table = Table(-server.pid, [f"ws://127.0.0.1:{server.port}"], self.seed)
        await table.open()
        await table.close()
        await until(lambda: self._is_empty(server))
        self._footprints[server.pid] = await self._bare(server)

    async def _bare(self, server: ServerProcess) -> Footprint:
        """The least of several looks: each asks for a page, and may meet the end of that line."""
        looks = [await self.footprint(server) for _ in range(LOOKS)]
        return Footprint(*map(min, zip(*map(astuple, looks), strict=True)))

    async def _is_empty(self, server: ServerProcess) -> bool:
        found = await self.footprint(server)
        return (found.rooms, found.connections, found.ending) == (0, 0, 0)

    async def footprint(self, server: ServerProcess) -> Footprint:
        """What a server holds now."""
        status, page = await asyncio.to_thread(server.page, "/metrics")
        assert status == 200
        to_store = self.links[self.servers.index(server)].port if self.links else 0
        files = open_files(server.pid, to_store, server.admin)
        assert files.lines <= STORE_LINES, f"{files.lines} connections to the store"
        return Footprint(
            tasks=_sample(page, "scopa_tasks"),
            files=files.rest,
            ending=files.ending,
            rooms=_sample(page, "scopa_rooms_live"),
            connections=_sample(page, "scopa_connections_open"),
        )

    async def leftovers(self) -> list[str]:
        """What isn't let go of, however long one waits."""
        found = [await self._left_in(server) for server in self.servers]
        if self.redis is not None:
            found.append(await self._left_in_store(self.redis))
        return [each for each in found if each]

    async def _left_in(self, server: ServerProcess) -> str:
        if server.pid not in self._footprints:
            await self._warm_up(server)
        bare = self._footprints[server.pid]
        try:
            await until(lambda: self._holds(server, bare))
        except TimeoutError:
            found = await self.footprint(server)
            return f"{server.folder.name}: {found}, not {bare}: {described(server.pid)}"
        return ""

    async def _holds(self, server: ServerProcess, bare: Footprint) -> bool:
        return await self.footprint(server) == bare

    async def _left_in_store(self, redis: RedisServer) -> str:
        async def silent() -> bool:
            return await asyncio.to_thread(lambda: redis.channels) == 0

        try:
            await until(silent)
        except TimeoutError:
            return "channels are still subscribed to"
        return ""

    # Tables

    async def tables(self, count: int, doors: list[str] | None = None) -> list[Table]:
        """Tables whose people come in through one door and the other, or through those named."""
        made: list[Table] = []
        for _ in range(count):
            self._opened += 1
            turned = self._opened % len(self.urls)
            ways = doors or self.urls[turned:] + self.urls[:turned]
            made.append(Table(self._opened, ways, self.seed * 1000 + self._opened))
            await made[-1].open()
        return made

    async def log(self, code: str) -> list[Commit]:
        """A room's log, read from the store by nobody's server."""
        if self.redis is not None:
            journal = await open_journal(self.redis.url)
        else:
            copy = await asyncio.to_thread(self._copied)
            journal = await open_journal(f"sqlite:{copy}")
        try:
            return await journal.read(code)
        finally:
            await journal.close()

    def _copied(self) -> Path:
        """The SQLite file aside, for the server's own is locked."""
        import sqlite3

        copy = self.folder / "copy.db"
        for old in self.folder.glob("copy.db*"):
            old.unlink()
        source = sqlite3.connect(self.folder / "one" / "scopa.db")
        target = sqlite3.connect(copy)
        source.backup(target)
        source.close()
        target.close()
        return copy


class OpenFiles(NamedTuple):
    """A process's open files: connections to its store, those that are ending, and the rest.

    Those to its admin port, unless they are ending, are in none: they are of whoever counts.
    """

    rest: int
    lines: int
    ending: int


def open_files(pid: int, store: int, admin: int) -> OpenFiles:
    """Count a process's open files; a socket that was reset and kept is of the rest."""
    table = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
    ends: dict[str, tuple[int, int, str]] = {}
    for words in map(str.split, table):
        near, far = (int(end.rpartition(":")[2], 16) for end in words[1:3])
        ends[f"socket:[{words[9]}]"] = (near, far, words[3])
    rest = lines = ending = 0
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            near, far, state = ends.get(str(file.readlink()), (0, 0, LISTENS))
            ending += state not in GOES_ON
            lines += state in GOES_ON and far == store != 0
            rest += state in GOES_ON and not (far and (far == store or near == admin))
    return OpenFiles(rest, lines, ending)


def described(pid: int) -> str:
    """A process's open files, each socket by its ends and state as the system numbers them."""
    table = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
    lines = {words[9]: f"{words[1]}>{words[2]}:{words[3]}" for words in map(str.split, table)}
    names = [str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir()]
    return ", ".join(lines.get(name.strip("socket:[]"), name) for name in sorted(names))


def _sample(page: str, name: str) -> int:
    found = re.search(rf"^{name} (\S+)$", page, re.MULTILINE)
    assert found is not None, name
    return int(float(found[1]))


async def until(condition: Callable[[], object], patience: float = PATIENCE) -> None:
    """Wait until a condition (a call, or one to await) is true. Raises TimeoutError."""
    end = monotonic() + patience
    while True:
        found = condition()
        if asyncio.iscoroutine(found):
            found = await found
        if found:
            return
        if monotonic() > end:
            raise TimeoutError
        await asyncio.sleep(0.02)

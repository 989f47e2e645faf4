"""What is measured beside each other: programs, and tables that play at them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from .load import Load, Window
from .machine import Cores, on
from .processes import Program, python, redis
from .script import Script, Scripted, save
from .table import Game, Table
from .wire import CODECS, Format

AT_ONCE: Final = 16
"""Tables that sit down at the same time."""
LIMITS: Final = (
    "--max-connections",
    "--max-rooms",
    "--max-frames-per-second",
    "--max-moves-per-minute",
    "--max-changes-per-room",
)
"""Limits of the server that mustn't stand in the load's way.

Moves are counted all the same, as a stranger's are, and so are the changes of a day.
"""


@dataclass(slots=True, kw_only=True)
class Contender:
    """A server, the store behind it, and the tables that play there."""

    name: str
    url: str
    server: Program
    make: Callable[[int], Table]
    load_cores: frozenset[int]
    store: Program | None = None
    tables: list[Table] = field(default_factory=list)

    @property
    def parts(self) -> Mapping[str, Sequence[int]]:
        """The processes whose cost is measured."""
        store = {} if self.store is None else {"store": self.store.pids}
        return {"server": self.server.pids, **store}

    async def grow(self, number: int) -> None:
        """Open tables until there are so many."""
        new = [self.make(index) for index in range(len(self.tables), number)]
        await open_all(new, self.url)
        self.tables += new

    async def saturated(self, warm: float, seconds: float) -> Window:
        """Play as fast as it goes."""
        with on(self.load_cores):
            return await Load(self.tables, self.parts).saturated(warm, seconds)

    async def paced(self, each_second: float, warm: float, seconds: float) -> Window:
        """Play so many cards a second at each table."""
        with on(self.load_cores):
            return await Load(self.tables, self.parts).paced(each_second, warm, seconds)

    async def leave(self) -> None:
        """Let its tables go."""
        await close_all(self.tables)
        self.tables.clear()

    async def close(self) -> None:
        """End it."""
        await self.leave()
        for program in (self.server, self.store):
            if program is not None:
                await asyncio.to_thread(program.stop)


async def open_all(tables: Sequence[Table], url: str) -> None:
    """Open tables, a few at a time, and lead them into their matches."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def opened(table: Table) -> None:
        async with gate:
            await table.open(url)

    load = Load(tables, {})
    await load.opened(asyncio.gather(*map(opened, tables)))
    await load.lead_in()


async def close_all(tables: Sequence[Table]) -> None:
    """Let all connections go."""
    await asyncio.gather(*(table.close() for table in tables))


def scopa_server(
    folder: Path, chosen: frozenset[int], store: str, *options: str
) -> tuple[Program, str]:
    """Start a server as a host would; gives its URL too."""
    words = ["--port", "0", "--admin-port", "off", "--store", store, "--log-format", "json"]
    words += [word for name in LIMITS for word in (name, "100000")]
    words += ["--max-changes-per-day", "1000000000"]
    program = python("scopa_server", *words, *options, folder=folder, chosen=chosen)
    program.says("scopa join INVITE")
    port = program.out.read_text().splitlines()[0].rpartition(":")[2]
    return program, f"ws://127.0.0.1:{port}"


def game(fmt: Format) -> Callable[[int], Game]:
    """Tables that play at a Scopa server; each by chance of its own."""
    return partial(Game, CODECS[fmt])


def on_sqlite(folder: Path, cores: Cores, fmt: Format = "json") -> Contender:
    """The server as it is by default: every play is on disk before anyone sees it."""
    server, url = scopa_server(folder, cores.server, f"sqlite:{folder}/scopa.db")
    return Contender(
        name=f"SQLite, {fmt}", url=url, server=server, make=game(fmt), load_cores=cores.load
    )


def on_redis(folder: Path, cores: Cores, fsync: str, workers: int = 1) -> Contender:
    """The server on a store of its own that writes its file `always` or `everysec`.

    Several workers share all cores with the load.
    """
    store, at = redis(folder / "store", cores.store, fsync)
    chosen, more = (cores.server, "") if workers == 1 else (cores.all, f", {workers} workers")
    server, url = scopa_server(folder, chosen, at, "--workers", str(workers))
    return Contender(
        name=f"Redis {fsync}, json{more}",
        url=url,
        server=server,
        make=game("json"),
        load_cores=cores.load if workers == 1 else cores.all,
        store=store,
    )


def relay(folder: Path, cores: Cores, script: Script, by: str) -> Contender:
    """The bare relay."""
    folder.mkdir(parents=True)
    path = folder / "script"
    save(script, path)
    words = ("--script", str(path), "--by", by)
    server = python("scopa_bench.relay", *words, folder=folder, chosen=cores.server)
    port = server.says("port").rpartition(" ")[2]

    def make(number: int) -> Table:
        return Scripted(CODECS[script.format], script, number)

    return Contender(
        name=f"relay by {by}",
        url=f"ws://127.0.0.1:{port}",
        server=server,
        make=make,
        load_cores=cores.load,
    )


Start: TypeAlias = Callable[[Path, Cores, Script], Contender]

OTHERS: Final[dict[str, Start]] = {
    "relay by send": lambda folder, cores, script: relay(folder, cores, script, "send"),
    "relay by frames": lambda folder, cores, script: relay(folder, cores, script, "frames"),
    "SQLite, msgpack": lambda folder, cores, _: on_sqlite(folder, cores, "msgpack"),
    "Redis always, json": lambda folder, cores, _: on_redis(folder, cores, "always"),
    "Redis everysec, json": lambda folder, cores, _: on_redis(folder, cores, "everysec"),
    "Redis always, json, 2 workers": lambda folder, cores, _: on_redis(
        folder, cores, "always", workers=2
    ),
}
"""What may be measured beside the server on SQLite, by name."""

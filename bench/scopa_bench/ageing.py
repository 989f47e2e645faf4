"""What a room's age costs: moves in rooms of a thousand commits, and reading one back."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from .contenders import close_all, game, open_all, scopa_server
from .line import PATIENCE, Broken, Line
from .load import Load
from .machine import Cores
from .plan import Plan
from .processes import Program
from .results import Figure
from .table import Game, Table
from .wire import CODECS


async def measure(folder: Path, cores: Cores, plan: Plan) -> list[Figure]:
    """Compare old rooms with new ones on one server, then load the old ones on another."""
    store = f"sqlite:{folder}/scopa.db"
    server, url = scopa_server(folder / "first", cores.server, store)
    try:
        old = _games(plan.old_rooms)
        await open_all(old, url)
        while min(table.commits for table in old) < plan.old_commits:
            await Load(old, {}).saturated(0.0, plan.seconds)
        growth = await _growth(server, url, old, plan)
    finally:
        await asyncio.to_thread(server.stop)
    server, url = scopa_server(folder / "second", cores.server, store)
    try:
        times = [await _loaded(url, table) for table in old]
    finally:
        await asyncio.to_thread(server.stop)
    return [
        growth,
        Figure(
            name="room loaded",
            value=round(median(times) * 1e3, 2),
            unit="ms",
            note=f"{plan.old_commits:,} commits or more, from `resume` to `joined`",
        ),
    ]


def _games(number: int) -> list[Game]:
    return list(map(game("json"), range(number)))


async def _growth(server: Program, url: str, old: Sequence[Table], plan: Plan) -> Figure:
    costs: dict[str, list[float]] = {"old": [], "new": []}
    for _ in range(plan.rounds):
        # New ones each time: they age as they are measured.
        new: list[Table] = [*_games(len(old))]
        await open_all(new, url)
        for name, tables in (("old", old), ("new", new)):
            window = await Load(tables, {"server": server.pids}).saturated(plan.warm, plan.seconds)
            costs[name].append(window.cpu_us("server"))
        await close_all(new)
    await close_all(old)
    growth = median(costs["old"]) / median(costs["new"])
    note = f"server us a move in rooms of {plan.old_commits:,} commits or more, against new ones"
    return Figure(name="cost in old rooms", value=round(growth, 3), unit="x", note=note)


async def _loaded(url: str, table: Game) -> float:
    """Seconds until a seat is back in a room that the server doesn't have in memory."""
    codec, answer = CODECS["json"], asyncio.get_running_loop().create_future()

    def heard(data: memoryview) -> None:
        frame = codec.decode(data)
        if frame.type in {"joined", "error"} and not answer.done():
            answer.set_result(frame.type)

    line = Line(heard, lambda _: None)
    await line.connect(f"{url}/ws", codec.subprotocol)
    command = {"type": "resume", "room": table.code, "token": table.tokens[0], "id": 1}
    start = time.perf_counter()
    line.send(codec.kind, codec.encode(command))
    kind = await asyncio.wait_for(answer, PATIENCE)
    took = time.perf_counter() - start
    await line.close()
    if kind != "joined":
        raise Broken("a room wasn't there after a restart")
    return took

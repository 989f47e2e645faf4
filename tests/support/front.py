"""A gateway on a free port, with live rooms on a store in memory behind it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from scopa_server.gateway.connection import Desk
from scopa_server.gateway.neighbours import Neighbours
from scopa_server.gateway.server import Endpoint, Gateway
from support.house import House

PATIENCE: Final = 60
"""Seconds that anything may take."""


class Front:
    """What a test reaches of it."""

    def __init__(self, house: House, neighbours: Neighbours | None, **endpoint: Any) -> None:
        self.house = house
        desk = Desk(
            rooms=house.rooms,
            metrics=house.metrics,
            time=house.time,
            bounds=house.bounds,
            now=house.time.now,
            neighbours=neighbours,
        )
        self.gateway = Gateway(Endpoint(host="127.0.0.1", port=0, **endpoint), desk)
        self.port = 0

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"ws://127.0.0.1:{self.port}"

    def counts(self, metric: str) -> float:
        """What a metric stands at."""
        lines = self.house.metrics.render().decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(metric))

    def counted(self, line: str) -> bool:
        """Whether the metrics say so."""
        return f"\n{line}\n" in self.house.metrics.render().decode()


@asynccontextmanager
async def front(
    house: House | None = None, neighbours: Neighbours | None = None, **endpoint: Any
) -> AsyncGenerator[Front]:
    """A gateway; afterwards it is stopped as the server stops it."""
    served = Front(house or House(), neighbours, **endpoint)
    try:
        async with served.gateway.listen() as served.port:
            yield served
    finally:
        served.house.journal.gate.set()
        await served.house.rooms.close()


async def until(condition: Callable[[], bool]) -> None:
    """Let everything else run until something is so."""
    looks = 0
    async with asyncio.timeout(PATIENCE):
        while not condition():
            looks += 1
            # At first it is a matter of turns; then of threads, or of the network.
            await asyncio.sleep(0 if looks < 100 else 0.01)

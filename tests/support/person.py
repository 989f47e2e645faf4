"""A person at the table as a test has one: a player, its console, its seats on disk."""

import asyncio
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

from scopa_cli.closing import Ending
from scopa_cli.entry import Entry
from scopa_cli.heard import Timing
from scopa_cli.player import Player, Wishes
from scopa_cli.seating import Seating
from scopa_cli.session import Opening
from scopa_cli.tokens import HeldSeat, SeatStore
from scopa_protocol.commands import Create, Join, Resume, Watch
from support.fake_console import FakeConsole
from support.fake_server import Scene, fake_server
from support.server_frames import CODE

TOKEN = "t" * 32


def steady() -> Iterator[float]:
    """Always the same wait."""
    return repeat(0.25)


async def no_pause(_: float) -> None:
    """Wait for nothing but the others."""
    await asyncio.sleep(0)


class Person:
    """A player under test, with its console and its seats on disk."""

    def __init__(self, folder: Path, command: Opening, console: FakeConsole | None = None) -> None:
        self.console = console or FakeConsole()
        self.store = SeatStore(folder)
        self.command = command
        self.wishes = Wishes()
        self.player: Player | None = None

    def entry(self, endpoint: str) -> Entry:
        """The entry for this command."""
        if isinstance(self.command, Watch):
            return Entry(endpoint=endpoint, command=self.command, seating=None)
        resumes = isinstance(self.command, Resume)
        held = HeldSeat(
            server=endpoint,
            room=None if isinstance(self.command, Create) else CODE,
            seat=0 if resumes else None,
            name="Anna",
            token=TOKEN,
        )
        if resumes:
            self.store.keep(held)
        seating = Seating(self.store, held)
        seating.ask()
        return Entry(endpoint=endpoint, command=self.command, seating=seating)

    async def at(self, *scenes: Scene) -> Ending:
        """Play against these scenes to the end."""
        async with fake_server(*scenes) as server:
            timing = Timing(pause=no_pause, delays=steady)
            entry = self.entry(server.endpoint)
            self.player = Player(entry, self.console, self.wishes, timing=timing)
            async with asyncio.timeout(60):
                return await self.player.run()


CREATE = Create(name="Anna", rules={"variant": "scopa"}, token=TOKEN)
JOIN = Join(room=CODE, name="Anna", token=TOKEN)
RESUME = Resume(room=CODE, token=TOKEN)

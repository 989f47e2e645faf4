"""The server with a fault in it: two commands fail, and what they fail with holds every secret.

`unseat` fails where a room decides, for that command alone. `stand_in` ends the process by an
exception that nothing catches.
"""

import asyncio
import sys
from typing import Any

from scopa_protocol import commands as c
from scopa_server import app
from scopa_server.__main__ import main
from scopa_server.live import table
from scopa_server.room.decide import decide
from scopa_server.room.events import Events
from scopa_server.room.state import Room


class Fault:
    """Knows what the table knows, and says it."""

    def __init__(self) -> None:
        self._stopping = app.stopping
        self._stop = asyncio.Event()
        self._end: Exception | None = None
        self._heard: list[str] = []

    def decide(self, room: Room, actor: Any, command: Any, context: Any) -> Events:
        """In place of `decide`."""
        if isinstance(command, c.Unseat):
            self._heard.append(command.name)
            raise _told(room, *self._heard)
        if isinstance(command, c.StandIn):
            self._end = _told(room, *self._heard)
            self._stop.set()
        return decide(room, actor, command, context)

    def stopping(self) -> asyncio.Event:
        """In place of `stopping`."""
        stop = self._stop = self._stopping()
        wait = stop.wait

        async def until() -> bool:
            await wait()
            if self._end is not None:
                raise self._end
            return True

        vars(stop).update(wait=until)
        return stop


def _told(room: Room, *words: str) -> Exception:
    shuffles = [one for one in (room.shuffle, room.next_shuffle) if one is not None]
    known = [*words, *(f"{','.join(one.deck)} {one.salt}" for one in shuffles)]
    fault = KeyError(*known)
    fault.__cause__ = ValueError(f"no such thing: {known}")
    fault.add_note(str(known))
    return fault


if __name__ == "__main__":
    fault = Fault()
    vars(table).update(decide=fault.decide)
    vars(app).update(stopping=fault.stopping)
    sys.exit(main())

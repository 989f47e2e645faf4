"""What every live room of a process shares."""

from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Struct

from scopa_protocol import commands as c
from scopa_protocol.views import View
from scopa_server.bounds import Bounds
from scopa_server.metrics import Metrics
from scopa_server.room.state import Shuffle

from .chance import new_token
from .time import Time


class Player(Protocol):
    """Plays for seats that the server serves, seeing what the seat sees."""

    def __call__(self, view: View) -> c.FirstCard | c.Declare | c.Play:
        """What the seat does, now that the table waits for it."""
        ...


class Surroundings(Struct, frozen=True, kw_only=True):
    """Time, chance, who plays for the server, and what is counted.

    `draw` makes the token of who opens a room without one.
    """

    time: Time
    shuffles: Iterator[Shuffle]
    player: Player
    metrics: Metrics
    linger_seconds: float = 10
    bounds: Bounds = Bounds()
    draw: Callable[[], str] = new_token

"""What one connection, one address, one room and the whole server may use."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from scopa_protocol.codec import MAX_FRAME
from scopa_protocol.text import NAME_LENGTH

Sparable: TypeAlias = Literal[
    "max_connections_per_address",
    "max_rooms_per_address",
    "max_new_rooms_per_hour",
    "max_changes_per_minute",
    "max_moves_per_minute",
    "max_changes_per_day",
]
"""A limit that tells strangers apart, and so says nothing of who sits at the server's machine."""
SPARABLE: Final[frozenset[Sparable]] = frozenset(get_args(Sparable))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Every limit. Times are in seconds. What each means: `options`, by the same name."""

    max_connections: int = 10_000
    max_connections_per_address: int = 200
    max_connections_per_seat: int = 4
    max_rooms: int = 10_000
    max_rooms_per_address: int = 100
    max_new_rooms_per_hour: int = 200
    max_watchers_per_room: int = 20
    max_failures_per_address: int = 20
    max_failures_per_room: int = 100
    max_frame_bytes: int = MAX_FRAME
    max_frames_per_second: int = 100
    max_talk_per_minute: int = 30
    max_changes_per_minute: int = 120
    max_moves_per_minute: int = 300
    max_changes_per_day: int = 200_000
    max_changes_per_room: int = 200_000
    max_name_length: int = NAME_LENGTH
    handshake_time: float = 10
    idle_time: float = 300
    unread_time: float = 20
    spared: frozenset[Sparable] = frozenset()
    """Those that don't hold for who comes from the server's own machine."""

    def holds(self, limit: Sparable, *, local: bool) -> bool:
        """Whether a limit holds for somebody. `local`: who comes from the server's own machine."""
        return not (local and limit in self.spared)

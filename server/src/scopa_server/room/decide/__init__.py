"""What a command comes to: events to append, none if its wish is already true, or Refused."""

from scopa_server.room.context import Actor, Context
from scopa_server.room.decide.commands import decide
from scopa_server.room.decide.internal import CameBack, Expired, GoneAway, Settle
from scopa_server.room.decide.opening import open_room

__all__ = [
    "Actor",
    "CameBack",
    "Context",
    "Expired",
    "GoneAway",
    "Settle",
    "decide",
    "open_room",
]

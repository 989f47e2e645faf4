"""What a decision needs to know beside the room: who acts, who is there, and chance."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from .state import Shuffle, Value


class Actor(Struct, frozen=True):
    """Who acts. `seat` None: a watcher, by `name`. `auto`: the server, for the seat."""

    seat: int | None
    name: str = ""
    auto: bool = False


class Context(Value, frozen=True, kw_only=True):
    """The world outside the room's log at the moment of a decision.

    `online`: seats with a connection; `offline_ms`: how long each other seat has had none;
    `shuffles` yields fresh decks with their salts, as many as are asked for; `passcode` is the
    hash of the passcode that a command brings, the room's own hash if it is the same; `used_ms`:
    how long the present decision has been waited for, pauses and empty rooms left out; told where
    it is asked for.
    """

    shuffles: Iterator[Shuffle]
    online: frozenset[int] = frozenset()
    offline_ms: Mapping[int, int] = {}
    watchers: tuple[str, ...] = ()
    passcode: str | None = None
    used_ms: int | None = None

"""What a decision needs to know beside the room: who acts, who is there, and chance."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .state import Shuffle


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts. `seat` None: a watcher, by `name`. `auto`: the server, for the seat."""

    seat: int | None
    name: str = ""
    auto: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """The world outside the room's log at the moment of a decision.

    `online`: seats with a connection; `offline_ms`: how long each other seat has had none;
    `shuffles` yields fresh decks with their salts, as many as are asked for; `passcode` is the
    hash of the passcode that a command brings, the room's own hash if it is the same; `used_ms`:
    how long the present decision has been waited for, pauses and empty rooms left out.
    """

    shuffles: Iterator[Shuffle] = field(repr=False)
    online: frozenset[int] = frozenset()
    offline_ms: Mapping[int, int] = field(default_factory=dict[int, int])
    watchers: tuple[str, ...] = ()
    passcode: str | None = field(default=None, repr=False)
    used_ms: int | None = None

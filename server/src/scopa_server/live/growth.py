"""How fast and how far a room's log may grow: nobody may fill the store.

What one address changes at a table, cards and talk apart, comes at a person's pace. A table goes on
no faster than people play, and whatever is stored on an address's behalf, its bots' cards too,
comes out of that address's day. And a room whose log is long enough begins nothing more: that
hangs on the commits' numbers alone, so that all processes hold to it alike, and after a restart.

What changes nothing, as what is sent again, meets none of it.
"""

from collections.abc import Callable, Iterable
from functools import partial
from operator import itemgetter
from typing import Final, TypeAlias

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_protocol.events import RoomEvent
from scopa_server.metrics import Limit
from scopa_server.room.events import Events, write_events
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room

from .budgets import Budgets
from .surroundings import Surroundings
from .talk import Talk
from .visitor import Visitor

CREDIT: Final = 20
"""Commits that a room takes out of its budgets at once, so that few of them need a look."""
BYTES_EACH: Final = 256
"""A change that takes more counts as several."""
FINISH: Final = 5_000
"""Commits that a room has left for its last match, and for who comes and goes meanwhile."""

_Kinds: TypeAlias = frozenset[type[c.Command]]
CARDS: Final[_Kinds] = frozenset({c.Play, c.Ready, c.Declare, c.FirstCard})
"""What a match is made of: each waits for the one before."""
_UNPACED: Final[_Kinds] = CARDS | {c.Say}
"""Talk has a limit of its own."""
_LAST: Final[_Kinds] = frozenset({c.Leave, c.EndMatch})
"""What nobody is kept from; it comes no more often than what begins is allowed to."""
_FINISHING: Final[_Kinds] = CARDS | {c.Unpause, c.Answer, c.StandIn, c.Unseat, c.MakeHost}
"""What a match may need to come to its end."""

Allowed: TypeAlias = Callable[[int, Events], None]
"""Takes how many commits the room has, and what a command comes to. Raises Refused where that is
too much.
"""


class Growth:
    """The growth of one room's log. Only the room uses it."""

    def __init__(self, code: str, budgets: Budgets, around: Surroundings) -> None:
        self._code = code
        self._budgets = budgets
        self._metrics = around.metrics
        self._talk = Talk(around)
        self._full_at = around.bounds.max_changes_per_room
        self._paid_to = 0
        """Below this number of commits cards need no look."""

    def allows(self, visitor: Visitor, command: c.Command) -> Allowed:
        """What a command's events must pass, again where another process was first."""
        return partial(self._check, visitor, type(command))

    def pays(self, visitor: Visitor, seq: int) -> bool:
        """Whether a card may be stored in a room of `seq` commits; it is paid for then."""
        if seq < self._paid_to:
            return True
        address, local = visitor.address, visitor.local
        if seq >= self._full_at + FINISH:
            return False
        if self._borrow(address, seq, 1, local=local):
            return True
        if self._budgets.lacks(self._code, address, 1, local=local) is not None:
            return False
        self._paid_to = seq + 1
        return True

    def followed(self, visitor: Visitor, command: c.Command) -> None:
        """A command changed something, and that is stored."""
        if isinstance(command, c.Say):
            self._talk.count(visitor)
            if self._paid_to < self._full_at:
                # It was paid for by itself; what was taken for cards is still there.
                self._paid_to += 1

    def overhear(self, room: Room, events: Iterable[RoomEvent]) -> None:
        """Count what people have done through other processes, where that counts in all."""
        self._talk.overhear(room, events)

    def goes_on(self, seq: int, audience: Iterable[Visitor]) -> bool:
        """Whether the server may do what is due: one of those who are here pays for it."""
        if seq < self._paid_to:
            return True
        if seq >= self._full_at + FINISH:
            return False
        lacking = None
        payers = dict.fromkeys((visitor.address, visitor.local) for visitor in audience)
        # Who is spared comes first, so that nobody else's day is used.
        for address, local in sorted(payers, key=itemgetter(1), reverse=True):
            if self._borrow(address, seq, 1, local=local):
                return True
            lacking = self._budgets.lacks(self._code, address, 1, local=local)
            if lacking is None:
                return True
        if lacking is not None:
            self._metrics.limited(lacking[0])
        return False

    def _check(self, visitor: Visitor, kind: type[c.Command], seq: int, events: Events) -> None:
        if kind in _LAST or (seq < self._paid_to and kind in CARDS):
            return
        self._check_room(kind, seq)
        if kind is c.Say:
            self._talk.check(visitor)
            self._budgets.talk(visitor.address, _size(events), local=visitor.local)
            return
        if kind not in _UNPACED:
            self._budgets.change(self._code, visitor.address, local=visitor.local)
        commits = 1 if kind in CARDS else _size(events)
        if not self._borrow(visitor.address, seq, commits, local=visitor.local):
            self._budgets.pay(self._code, visitor.address, commits, local=visitor.local)

    def _check_room(self, kind: type[c.Command], seq: int) -> None:
        if seq < self._full_at or (kind in _FINISHING and seq < self._full_at + FINISH):
            return
        self._metrics.limited(Limit.ROOM_CHANGES)
        raise Refused(
            ErrorCode.ROOM_FULL,
            "This room has seen as many changes as a room may. Play the match to its end, or end "
            "it; then open a new room.",
        )

    def _borrow(self, address: str, seq: int, commits: int, *, local: bool) -> bool:
        """Pay for commits with what was taken before, or take more; whether that could be."""
        if self._paid_to - seq >= commits:
            self._paid_to -= commits - 1
            return True
        many = commits - 1 + CREDIT
        if self._budgets.lacks(self._code, address, many, local=local) is not None:
            return False
        ends = (self._full_at, self._full_at + FINISH)
        self._paid_to = min([seq + CREDIT, *(end for end in ends if end > seq)])
        return True


def _size(events: Events) -> int:
    """How many changes one counts as."""
    return 1 + len(write_events(events)) // BYTES_EACH

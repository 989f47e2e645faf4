"""What a room shows at one moment: the same to all, and to each viewer its own.

Both are encoded when they are sent, each once: for all viewers, and for all of one seat.
"""

from collections.abc import Sequence
from typing import Final

from scopa_protocol.codec import Codec
from scopa_protocol.events import RoomEvent
from scopa_protocol.views import OwnView
from scopa_server.room.project import Scene, own, public
from scopa_server.room.state import Room

EVENTS_KEPT: Final = 100
"""Events that one update tells; of more, the oldest are dropped."""


class Showing:
    """One moment of a room, and what happened before it."""

    def __init__(self, room: Room, scene: Scene, events: Sequence[RoomEvent]) -> None:
        self._room = room
        self.public = public(room, scene)
        self.events = events[-EVENTS_KEPT:]
        self._own: dict[int | None, OwnView] = {}
        self._common: dict[Codec, bytes] = {}
        self._frames: dict[tuple[Codec, int | None], bytes] = {}

    def own(self, seat: int | None) -> OwnView:
        """What a viewer alone may see."""
        if seat not in self._own:
            self._own[seat] = own(self._room, seat)
        return self._own[seat]

    def encoded(self, codec: Codec, seat: int | None) -> bytes:
        """The update for a viewer."""
        if (codec, seat) not in self._frames:
            self._frames[codec, seat] = codec.updates.own(self.common(codec), self.own(seat))
        return self._frames[codec, seat]

    def common(self, codec: Codec) -> bytes:
        """What the updates for all viewers share."""
        if codec not in self._common:
            updates, view = codec.updates, self.public
            self._common[codec] = updates.common(view.seq, self.events, view)
        return self._common[codec]


class Update:
    """What one connection is to hear: a moment as its seat sees it; `re`: the commands it answers.

    `missed`: what happened before, and was not sent yet.
    """

    def __init__(
        self,
        showing: Showing,
        seat: int | None,
        re: list[int] | None = None,
        missed: Sequence[RoomEvent] = (),
    ) -> None:
        self.showing = showing
        self.seat = seat
        self.re = re
        self._missed = missed

    @property
    def events(self) -> Sequence[RoomEvent]:
        """What happened."""
        showing = self.showing
        return [*self._missed, *showing.events][-EVENTS_KEPT:] if self._missed else showing.events

    def after(self, older: "Update") -> "Update":
        """This update for a connection that an older one was never sent to."""
        re = [*(older.re or ()), *(self.re or ())]
        return Update(self.showing, self.seat, re, older.events)

    def encoded(self, codec: Codec) -> bytes:
        """The frame."""
        showing = self.showing
        if self._missed:
            view = showing.public
            common = codec.updates.common(view.seq, self.events, view)
        elif self.re:
            common = showing.common(codec)
        else:
            return showing.encoded(codec, self.seat)
        return codec.updates.own(common, showing.own(self.seat), self.re)

"""What a room shows at one moment: the same to all, and to each viewer its own.

It is written when it is sent, and no part of it again while it stays the same: what a deal doesn't
change, and the hands of those who only look on.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from scopa_protocol.codec import Codec
from scopa_protocol.events import RoomEvent
from scopa_server.room.project import (
    Scene,
    Seen,
    lasting,
    lasting_hangs_on,
    own,
    own_changes,
    passing,
    see,
)
from scopa_server.room.state import Room

EVENTS_KEPT: Final = 100
"""Events that one update tells; of more, the oldest are dropped."""


class Parts:
    """The parts of a room's views at one moment that may stay, as one codec writes them.

    `own`: how an update ends for each viewer that was sent one.
    """

    __slots__ = ("_codec", "_lasting_hangs_on", "_room", "lasting", "own")

    def __init__(self, codec: Codec, room: Room, scene: Scene, latest: "Parts | None") -> None:
        self._codec = codec
        self._room = room
        self._lasting_hangs_on = hangs_on = lasting_hangs_on(room, scene)
        self.own: dict[int | None, bytes] = {}
        if latest is None or latest._lasting_hangs_on != hangs_on:
            self.lasting = codec.updates.part(lasting(room, scene))
            return
        self.lasting = latest.lasting
        self.own |= latest.own
        for seat in own_changes(latest._room, room):
            self.own.pop(seat, None)

    def write_own(self, seat: int | None) -> bytes:
        """How an update ends for a viewer that was sent none yet."""
        written = self.own[seat] = self._codec.updates.own(own(self._room, seat))
        return written


class Written:
    """What of a room's views was made last, and how each codec wrote it."""

    __slots__ = ("parts", "seen")

    def __init__(self) -> None:
        self.parts: dict[Codec, Parts] = {}
        self.seen: Seen | None = None


class Showing:
    """One moment of a room, and what happened before it."""

    __slots__ = ("_room", "_scene", "_written", "events", "shared")

    def __init__(
        self,
        room: Room,
        scene: Scene,
        events: Sequence[RoomEvent],
        written: Written | None = None,
    ) -> None:
        self._room = room
        self._scene = scene
        self.events = events[-EVENTS_KEPT:]
        self._written = Written() if written is None else written
        self.shared: dict[Codec, tuple[bytes, Parts]] = {}
        """How the updates for all viewers begin, and their other parts; by codec, once written."""

    def share(self, codec: Codec) -> tuple[bytes, Parts]:
        """Write what the updates for all viewers share; nothing that stayed as it was last."""
        latest = self._written.parts
        parts = latest[codec] = Parts(codec, self._room, self._scene, latest.get(codec))
        shared = self.shared[codec] = self.telling(codec, parts.lasting, self.events), parts
        return shared

    def telling(self, codec: Codec, lasting: bytes, events: Sequence[RoomEvent]) -> bytes:
        """How updates begin that tell of these events."""
        room, scene, written = self._room, self._scene, self._written
        written.seen = see(room, scene, written.seen)
        passes = codec.updates.part(passing(room, scene, written.seen))
        return codec.updates.common(room.seq, events, lasting, passes)


class Update(Struct, frozen=True, eq=False):
    """What one connection is to hear: a moment as its seat sees it; `re`: the commands it answers.

    `missed`: what happened before, and was not sent yet.
    """

    showing: Showing
    seat: int | None
    re: list[int] | None = None
    missed: Sequence[RoomEvent] = ()

    @property
    def events(self) -> Sequence[RoomEvent]:
        """What happened."""
        showing = self.showing
        return [*self.missed, *showing.events][-EVENTS_KEPT:] if self.missed else showing.events

    def after(self, older: "Update") -> "Update":
        """This update for a connection that an older one was never sent to."""
        re = [*(older.re or ()), *(self.re or ())]
        return Update(self.showing, self.seat, re, older.events)

    def encoded(self, codec: Codec) -> bytes:
        """The frame."""
        showing, seat, re = self.showing, self.seat, self.re
        common, parts = showing.shared.get(codec) or showing.share(codec)
        if self.missed:
            common = showing.telling(codec, parts.lasting, self.events)
        frame = common + (parts.own.get(seat) or parts.write_own(seat))
        return codec.updates.answering(frame, re) if re else frame

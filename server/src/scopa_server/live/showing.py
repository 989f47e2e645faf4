"""What a room shows at one moment: the same to all, and to each viewer its own.

It is written when it is sent, and no part of it again while it stays the same: what a deal doesn't
change, and the hands of those who only look on.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from scopa_protocol.codec import Codec
from scopa_protocol.events import RoomEvent
from scopa_server.room.project import (
    Scene,
    card_between,
    lasting,
    lasting_hangs_on,
    own,
    passing,
    see,
    see_after,
)
from scopa_server.room.state import Room

EVENTS_KEPT: Final = 100
"""Events that one update tells; of more, the oldest are dropped."""


class Parts:
    """The parts of a room's views at one moment that may stay, as one codec writes them.

    `own`: how an update ends for each viewer that was sent one.
    """

    __slots__ = ("_codec", "_lasting_hangs_on", "_room", "lasting", "own", "seen")

    def __init__(self, codec: Codec, room: Room, scene: Scene, latest: "Parts | None") -> None:
        self._codec = codec
        self._room = room
        self._lasting_hangs_on = hangs_on = lasting_hangs_on(room, scene)
        self.own: dict[int | None, bytes] = {}
        if latest is None or latest._lasting_hangs_on != hangs_on:
            # Nor is what all see the same but for a card: the log may be another.
            self.seen = see(room, scene)
            self.lasting = codec.updates.part(lasting(room, scene))
            return
        self.lasting, before = latest.lasting, latest._room
        card = card_between(before, room)
        if card is not None:
            self.seen = see_after(latest.seen, card, room, scene)
            self.own |= latest.own
            self.own.pop(card.seat, None)
            self.own.pop(room.to_play, None)
            return
        self.seen = see(room, scene)
        if room.deal is before.deal and room.seats is before.seats:
            self.own |= latest.own

    def write_own(self, seat: int | None) -> bytes:
        """How an update ends for a viewer that was sent none yet."""
        written = self.own[seat] = self._codec.updates.own(own(self._room, seat))
        return written


Written: TypeAlias = dict[Codec, Parts]
"""The parts as each codec wrote them last."""


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
        self._written: Written = {} if written is None else written
        self.shared: dict[Codec, tuple[bytes, Parts]] = {}
        """How the updates for all viewers begin, and their other parts; by codec, once written."""

    def share(self, codec: Codec) -> tuple[bytes, Parts]:
        """Write what the updates for all viewers share; nothing that stayed as it was last."""
        written = self._written
        parts = written[codec] = Parts(codec, self._room, self._scene, written.get(codec))
        shared = self.shared[codec] = self.telling(codec, parts, self.events), parts
        return shared

    def telling(self, codec: Codec, parts: Parts, events: Sequence[RoomEvent]) -> bytes:
        """How updates begin that tell of these events."""
        room, updates = self._room, codec.updates
        passes = updates.part(passing(room, self._scene, parts.seen))
        return updates.common(room.seq, events, parts.lasting, passes)


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
            common = showing.telling(codec, parts, self.events)
        frame = common + (parts.own.get(seat) or parts.write_own(seat))
        return codec.updates.answering(frame, re) if re else frame

"""What a room shows at one moment: the same to all, and to each viewer its own.

It is written when it is sent, and no part of it again while it stays the same: what a deal doesn't
change, and the hands of those who only look on.
"""

from collections.abc import Sequence
from typing import Final

from scopa_protocol.codec import Codec
from scopa_protocol.events import RoomEvent
from scopa_server.room.project import (
    Scene,
    lasting,
    lasting_hangs_on,
    own,
    own_hangs_on,
    passing,
)
from scopa_server.room.state import Room

EVENTS_KEPT: Final = 100
"""Events that one update tells; of more, the oldest are dropped."""


class Written:
    """The parts of a room's views as they were last written, for as long as they stay the same."""

    def __init__(self) -> None:
        self._parts: dict[tuple[Codec, str | int | None], tuple[tuple[object, ...], bytes]] = {}

    def lasting(self, codec: Codec, room: Room, scene: Scene) -> bytes:
        """The part that stays while cards are played."""
        hangs_on = lasting_hangs_on(room, scene)
        kept = self._parts.get((codec, "lasting"))
        if kept is not None and kept[0] == hangs_on:
            return kept[1]
        part = codec.updates.part(lasting(room, scene))
        self._parts[codec, "lasting"] = hangs_on, part
        return part

    def own(self, codec: Codec, room: Room, seat: int | None) -> bytes:
        """A viewer's own part."""
        hangs_on = own_hangs_on(room, seat)
        kept = self._parts.get((codec, seat))
        if kept is not None and kept[0] == hangs_on:
            return kept[1]
        part = codec.updates.part(own(room, seat))
        self._parts[codec, seat] = hangs_on, part
        return part


class Showing:
    """One moment of a room, and what happened before it."""

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
        self._common: dict[Codec, bytes] = {}

    def common(self, codec: Codec) -> bytes:
        """What the updates for all viewers share."""
        common = self._common.get(codec)
        if common is None:
            common = self._common[codec] = self.telling(codec, self.events)
        return common

    def telling(self, codec: Codec, events: Sequence[RoomEvent]) -> bytes:
        """What they share if they tell of these events."""
        room, updates = self._room, codec.updates
        lasting = self._written.lasting(codec, room, self._scene)
        return updates.common(room.seq, events, lasting, updates.part(passing(room, self._scene)))

    def own(self, codec: Codec, seat: int | None) -> bytes:
        """What a viewer alone may see."""
        return self._written.own(codec, self._room, seat)


class Update:
    """What one connection is to hear: a moment as its seat sees it; `re`: the commands it answers.

    `missed`: what happened before, and was not sent yet.
    """

    __slots__ = ("_missed", "re", "seat", "showing")

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
        common = showing.telling(codec, self.events) if self._missed else showing.common(codec)
        return codec.updates.update(common, showing.own(codec, self.seat), self.re)

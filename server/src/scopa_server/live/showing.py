"""What a room shows at one moment: the same to all, and to each viewer its own.

It is written when it is sent, and no part of it again while it stays the same: what a deal doesn't
change, and the hands of those who only look on.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from scopa_protocol.codec import Codec
from scopa_protocol.events import RoomEvent
from scopa_protocol.updates import Listed
from scopa_server.room.project import (
    Scene,
    card_between,
    gone,
    lasting,
    lasting_hangs_on,
    listed,
    own,
    recent_play,
    seat,
    side,
    table,
)
from scopa_server.room.state import Room
from scopa_server.rules.deal import Play

EVENTS_KEPT: Final = 100
"""Events that one update tells; of more, the oldest are dropped."""


class Parts:
    """The parts of a room's views at one moment that may stay, as one codec writes them.

    `own`: how an update ends for each viewer that was sent one.
    """

    __slots__ = ("_codec", "_room", "_scene", "lasting", "listed", "own")

    def __init__(self, codec: Codec, room: Room, scene: Scene, latest: "Parts | None") -> None:
        self._codec = codec
        self._room = room
        self._scene = scene
        self.lasting: bytes
        self.listed: Listed
        self.own: dict[int | None, bytes] = {}
        if latest is not None and _is_alike(latest._scene, scene):
            card = card_between(latest._room, room)
            if card is not None:
                self._follow(latest, card)
                return
        self._begin(latest)

    def _begin(self, latest: "Parts | None") -> None:
        """Write all but what lasted."""
        room, scene, encode = self._room, self._scene, self._codec.encode
        hangs_on = lasting_hangs_on(room, scene)
        if latest is None or lasting_hangs_on(latest._room, latest._scene) != hangs_on:
            # Nor are hands the same: the log may be another.
            self.lasting = self._codec.updates.lasting(lasting(room, scene))
        else:
            self.lasting = latest.lasting
            if room.deal is latest._room.deal:
                self._reseat(latest)
                return
        view = listed(room, scene)
        self.listed = Listed(
            list(map(encode, view.seats)),
            list(map(encode, view.sides)),
            list(map(encode, view.recent)),
            encode(view.gone),
        )

    def _reseat(self, latest: "Parts") -> None:
        """Write seats anew where somebody came, went or got ready: all else is as it was."""
        room, online, encode = self._room, self._scene.online, self._codec.encode
        seats = [*latest.listed.seats]
        self.own = latest.own.copy()
        for number, (was, there) in enumerate(zip(latest._room.seats, room.seats, strict=True)):
            if there is not was:
                self.own.pop(number, None)
            elif (number in online) == (number in latest._scene.online):
                continue
            seats[number] = encode(seat(room, number, online))
        self.listed = replace(latest.listed, seats=seats)

    def _follow(self, latest: "Parts", card: Play) -> None:
        """Write what one card changed."""
        room, number, encode = self._room, card.seat, self._codec.encode
        before = latest.listed
        seats, sides, taken = [*before.seats], before.sides, before.gone
        seats[number] = encode(seat(room, number, self._scene.online))
        if card.to_pile:
            sides, of = [*sides], number % room.rules.sides
            sides[of] = encode(side(room, of))
            taken = encode(gone(room))
        plays = [*before.recent, encode(recent_play(card))][-room.rules.players :]
        self.listed = Listed(seats, sides, plays, taken)
        self.lasting = latest.lasting
        self.own = latest.own.copy()
        self.own.pop(number, None)
        self.own.pop(room.to_play, None)

    def write_own(self, seat: int | None) -> bytes:
        """How an update ends for a viewer that was sent none yet."""
        written = self.own[seat] = self._codec.updates.own(own(self._room, seat))
        return written


def _is_alike(before: Scene, after: Scene) -> bool:
    """Whether only the clock may be another."""
    if before is after:
        return True
    people = before.online == after.online and before.watchers == after.watchers
    return people and before.log == after.log


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
        room, shown = self._room, table(self._room, self._scene)
        return codec.updates.common(room.seq, events, parts.lasting, parts.listed, shown)


class Update(Struct, frozen=True, eq=False, gc=False):
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

    def encoded(self, codec: Codec) -> tuple[bytes, bytes]:
        """The beginning of the frame, which others may have in common, and its end."""
        showing, seat = self.showing, self.seat
        shared = showing.shared
        common, parts = shared[codec] if codec in shared else showing.share(codec)
        if self.missed:
            common = showing.telling(codec, parts, self.events)
        written = parts.own
        own = written[seat] if seat in written else parts.write_own(seat)
        return codec.updates.answering(common, own, self.re) if self.re else (common, own)

"""Updates in bytes, put together from parts that are written once for all that they hold for.

An update is a map, and so is its view. Maps that share no key are one map if their entries are
written one after the other, so a view is what lasts, what passes, and the viewer's own.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from .events import RoomEvent
from .views import LastingView, OwnView, PassingView

Part: TypeAlias = LastingView | PassingView | OwnView


class UpdateWriter(Protocol):
    """One subprotocol's way of writing updates."""

    def part(self, view: Part) -> bytes:
        """The entries of a part of a view."""
        ...

    def common(
        self, seq: int, events: Sequence[RoomEvent], lasting: bytes, passing: bytes
    ) -> bytes:
        """What the updates of one moment share; `lasting`, `passing`: parts of their views."""
        ...

    def own(self, view: OwnView) -> bytes:
        """What follows on what all share and makes a viewer's update whole: its view's own part."""
        ...

    def answering(self, update: bytes, re: list[int]) -> bytes:
        """A whole update that answers commands as well."""
        ...


class JsonUpdates:
    """Updates as JSON."""

    def part(self, view: Part) -> bytes:
        """The entries of a part of a view."""
        return _json(view)[1:-1]

    def common(
        self, seq: int, events: Sequence[RoomEvent], lasting: bytes, passing: bytes
    ) -> bytes:
        """The update, up to where its view's own part begins."""
        return b'{"type":"update","seq":%d,"events":%b,"view":{%b,%b,' % (
            seq,
            _json(events),
            lasting,
            passing,
        )

    def own(self, view: OwnView) -> bytes:
        """The entries of a viewer's own part, and the ends of the view and of the update."""
        return _json(view)[1:] + b"}"

    def answering(self, update: bytes, re: list[int]) -> bytes:
        """The update with one entry more."""
        return b'%b,"re":%b}' % (update[:-1], _json(re))


class MsgpackUpdates:
    """Updates as MessagePack, where a map begins with the number of its entries."""

    def part(self, view: Part) -> bytes:
        """The entries of a part of a view."""
        return _pack(view)[_HEADS[type(view)] :]

    def common(
        self, seq: int, events: Sequence[RoomEvent], lasting: bytes, passing: bytes
    ) -> bytes:
        """The update, up to where its view's own part begins."""
        return b"".join(
            (
                _UPDATE_HEAD,
                _TYPE_UPDATE,
                _pack("seq"),
                _pack(seq),
                _pack("events"),
                _pack(events),
                _pack("view"),
                _VIEW_HEAD,
                lasting,
                passing,
            )
        )

    def own(self, view: OwnView) -> bytes:
        """The entries of a viewer's own part: the last ones there are."""
        return self.part(view)

    def answering(self, update: bytes, re: list[int]) -> bytes:
        """The update with one entry more."""
        rest = memoryview(update)[len(_UPDATE_HEAD) :]
        return b"".join((_ANSWER_HEAD, rest, _pack("re"), _pack(re)))


def _map_head(entries: int) -> bytes:
    """How a map of so many entries begins: in MessagePack, fixmap or map 16."""
    return bytes([0x80 | entries]) if entries < 16 else b"\xde" + entries.to_bytes(2, "big")


_json: Final[Callable[[Any], bytes]] = msgspec.json.Encoder().encode
_pack: Final[Callable[[Any], bytes]] = msgspec.msgpack.Encoder().encode
_ENTRIES: Final = {
    part: len(part.__struct_fields__) for part in (LastingView, PassingView, OwnView)
}
_HEADS: Final[dict[type[Part], int]] = {
    part: len(_map_head(entries)) for part, entries in _ENTRIES.items()
}
_VIEW_HEAD: Final = _map_head(sum(_ENTRIES.values()))
_UPDATE_HEAD: Final = _map_head(4)
_ANSWER_HEAD: Final = _map_head(5)
_TYPE_UPDATE: Final = _pack("type") + _pack("update")

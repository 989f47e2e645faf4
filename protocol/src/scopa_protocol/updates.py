"""Updates in bytes: what all of a room's share is written once, each viewer's own beside it.

An update is a map, and so is its view. Two maps that share no key are one map if their entries are
written one after the other, so a view is its public part followed by the viewer's own.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import msgspec

from .events import RoomEvent
from .views import OwnView, PublicView


class UpdateWriter(Protocol):
    """One subprotocol's way of writing updates."""

    def common(self, seq: int, events: Sequence[RoomEvent], view: PublicView) -> bytes:
        """What the updates of one moment share."""
        ...

    def own(self, common: bytes, view: OwnView, re: list[int] | None = None) -> bytes:
        """One viewer's update."""
        ...


class JsonUpdates:
    """Updates as JSON."""

    def common(self, seq: int, events: Sequence[RoomEvent], view: PublicView) -> bytes:
        """The update, up to where its view's own part begins."""
        return b'{"type":"update","seq":%d,"events":%b,"view":%b,' % (
            seq,
            _json(events),
            _json(view)[:-1],
        )

    def own(self, common: bytes, view: OwnView, re: list[int] | None = None) -> bytes:
        """The update, completed."""
        end = b',"re":%b}' % _json(re) if re else b"}"
        return b"".join((common, _json(view)[1:], end))


class MsgpackUpdates:
    """Updates as MessagePack, where a map begins with the number of its entries."""

    def common(self, seq: int, events: Sequence[RoomEvent], view: PublicView) -> bytes:
        """The update's entries, up to where its view's own part begins."""
        return b"".join(
            (
                _TYPE_UPDATE,
                _pack("seq"),
                _pack(seq),
                _pack("events"),
                _pack(events),
                _pack("view"),
                _VIEW_HEAD,
                _pack(view)[len(_PUBLIC_HEAD) :],
            )
        )

    def own(self, common: bytes, view: OwnView, re: list[int] | None = None) -> bytes:
        """The update, completed."""
        end = (_pack("re"), _pack(re)) if re else ()
        head = _map_head(5 if re else 4)
        return b"".join((head, common, _pack(view)[len(_OWN_HEAD) :], *end))


def _map_head(entries: int) -> bytes:
    """How a map of so many entries begins: in MessagePack, fixmap or map 16."""
    return bytes([0x80 | entries]) if entries < 16 else b"\xde" + entries.to_bytes(2, "big")


_json: Final[Callable[[Any], bytes]] = msgspec.json.Encoder().encode
_pack: Final[Callable[[Any], bytes]] = msgspec.msgpack.Encoder().encode
_PUBLIC_HEAD: Final = _map_head(len(PublicView.__struct_fields__))
_OWN_HEAD: Final = _map_head(len(OwnView.__struct_fields__))
_VIEW_HEAD: Final = _map_head(len(PublicView.__struct_fields__) + len(OwnView.__struct_fields__))
_TYPE_UPDATE: Final = _pack("type") + _pack("update")

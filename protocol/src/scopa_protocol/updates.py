"""Updates in bytes, put together from parts that are written once for all that they hold for.

An update is a map, and so is its view. Maps that share no key are one map if their entries are
written one after the other, so a view is what lasts, what is listed, the table, and the viewer's
own. The lists are kept as what their items are written as: one item changed, one is written anew.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from .events import RoomEvent
from .views import LastingView, ListedView, OwnView, TableView

Part: TypeAlias = LastingView | TableView | OwnView


class Listed(Struct, frozen=True, gc=False):
    """The lists of a view, each item written."""

    seats: Sequence[bytes]
    sides: Sequence[bytes]
    recent: Sequence[bytes]
    gone: bytes
    """All of it."""


class UpdateWriter(Protocol):
    """One subprotocol's way of writing updates."""

    def lasting(self, view: LastingView) -> bytes:
        """The entries of the part of a view that lasts."""
        ...

    def common(
        self,
        seq: int,
        events: Sequence[RoomEvent],
        lasting: bytes,
        listed: Listed,
        table: TableView,
    ) -> bytes:
        """The update, up to where its view's own part begins; `lasting`: written."""
        ...

    def own(self, view: OwnView) -> bytes:
        """What follows on what all share and makes a viewer's update whole: its view's own part."""
        ...

    def answering(self, common: bytes, own: bytes, re: Sequence[int]) -> tuple[bytes, bytes]:
        """The beginning and the end of an update that answers commands as well."""
        ...


class JsonUpdates:
    """Updates as JSON."""

    def lasting(self, view: LastingView) -> bytes:
        """The entries of the part of a view that lasts."""
        return _json(view)[1:-1]

    def common(
        self,
        seq: int,
        events: Sequence[RoomEvent],
        lasting: bytes,
        listed: Listed,
        table: TableView,
    ) -> bytes:
        """The update, up to where its view's own part begins."""
        number = b"%d" % seq
        return b"".join(
            (
                b'{"type":"update","seq":',
                number,
                b',"events":',
                _json(events),
                b',"view":{',
                lasting,
                b',"seq":',
                number,
                b',"seats":[',
                b",".join(listed.seats),
                b'],"sides":[',
                b",".join(listed.sides),
                b"],",
                _json(table)[1:-1],
                b',"recent":[',
                b",".join(listed.recent),
                b'],"gone":',
                listed.gone,
                b",",
            )
        )

    def own(self, view: OwnView) -> bytes:
        """The entries of a viewer's own part, and the ends of the view and of the update."""
        return _json(view)[1:] + b"}"

    def answering(self, common: bytes, own: bytes, re: Sequence[int]) -> tuple[bytes, bytes]:
        """The update with one entry more."""
        return common, b"".join((own[:-1], b',"re":', _json(re), b"}"))


class MsgpackUpdates:
    """Updates as MessagePack, where a map or a list begins with the number of what is in it."""

    def lasting(self, view: LastingView) -> bytes:
        """The entries of the part of a view that lasts."""
        return _entries(view)

    def common(
        self,
        seq: int,
        events: Sequence[RoomEvent],
        lasting: bytes,
        listed: Listed,
        table: TableView,
    ) -> bytes:
        """The update, up to where its view's own part begins."""
        number = _pack(seq)
        return b"".join(
            (
                _UPDATE_HEAD,
                number,
                _EVENTS,
                _pack(events),
                _VIEW_HEAD,
                lasting,
                _SEQ,
                number,
                _SEATS,
                _LIST_HEADS[len(listed.seats)],
                *listed.seats,
                _SIDES,
                _LIST_HEADS[len(listed.sides)],
                *listed.sides,
                _entries(table),
                _RECENT,
                _LIST_HEADS[len(listed.recent)],
                *listed.recent,
                _GONE,
                listed.gone,
            )
        )

    def own(self, view: OwnView) -> bytes:
        """The entries of a viewer's own part: the last ones there are."""
        return _entries(view)

    def answering(self, common: bytes, own: bytes, re: Sequence[int]) -> tuple[bytes, bytes]:
        """The update with one entry more."""
        return _ANSWER_HEAD + common[1:], b"".join((own, _RE, _pack(re)))


_json: Final[Callable[[Any], bytes]] = msgspec.json.Encoder().encode
_pack: Final[Callable[[Any], bytes]] = msgspec.msgpack.Encoder().encode


def _map_head(entries: int) -> bytes:
    """How a map of so many entries begins: fixmap or map 16."""
    return bytes([0x80 | entries]) if entries < 16 else b"\xde" + entries.to_bytes(2, "big")


def _entries(view: Part) -> bytes:
    return _pack(view)[_HEADS[type(view)] :]


def _number(*parts: type[Struct]) -> int:
    return sum(len(part.__struct_fields__) for part in parts)


_LIST_HEADS: Final = [bytes([0x90 | items]) for items in range(16)]
"""How a list of so many items begins: fixarray. There are no more seats."""
_HEADS: Final[dict[type[Part], int]] = {
    part: len(_map_head(_number(part))) for part in (LastingView, TableView, OwnView)
}
_SEQ, _EVENTS, _SEATS, _SIDES, _RECENT, _GONE, _RE = map(
    _pack, ("seq", "events", "seats", "sides", "recent", "gone", "re")
)
_UPDATE_ENTRIES: Final = _pack("type") + _pack("update") + _SEQ
_UPDATE_HEAD: Final = _map_head(4) + _UPDATE_ENTRIES
_ANSWER_HEAD: Final = _map_head(5)
_VIEW_HEAD: Final = _pack("view") + _map_head(
    1 + _number(LastingView, ListedView, TableView, OwnView)
)

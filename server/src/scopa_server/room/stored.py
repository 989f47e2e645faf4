"""What the store keeps beside a room's log: its snapshot, and a small header for look-ups."""

import dataclasses
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from scopa_server.rules.record import shared

from .events import SCHEMA, UnreadableLog
from .state import Room


class Header(Struct, frozen=True, kw_only=True):
    """Enough to turn a wrong code, passcode or token away without loading a log: hashes only."""

    passcode: str | None
    tokens: tuple[str, ...]
    started: bool

    def __repr__(self) -> str:
        """The type alone."""
        return "<Header>"


class _Dump(Struct, frozen=True, kw_only=True):
    v: int
    room: Room


_dumps: Final = msgspec.json.Decoder(_Dump)
_headers: Final = msgspec.json.Decoder(Header)


def dump(room: Room) -> bytes:
    """A room as a snapshot keeps it."""
    return msgspec.json.encode(_Dump(v=SCHEMA, room=room))


def load(data: bytes) -> Room:
    """The room of a snapshot. Raises UnreadableLog."""
    dumped = _decoded(_dumps, data)
    if dumped.v != SCHEMA:
        raise UnreadableLog("a snapshot was written by another release")
    room: Room = dumped.room
    rules, deal = shared(room.rules), room.deal
    if deal is not None:
        deal = dataclasses.replace(deal, rules=rules if deal.rules == rules else deal.rules)
    return replace(room, rules=rules, deal=deal)


def header(room: Room) -> bytes:
    """A room's header, as the store keeps it."""
    tokens = tuple(seat.holder.token for seat in room.seats if seat.holder is not None)
    return msgspec.json.encode(
        Header(passcode=room.passcode, tokens=tokens, started=room.match > 0)
    )


def read_header(data: bytes) -> Header:
    """A header from the store. Raises UnreadableLog."""
    found: Header = _decoded(_headers, data)
    return found


def _decoded(decoder: msgspec.json.Decoder[Any], data: bytes) -> Any:
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UnreadableLog("a snapshot or header can't be read") from None

"""The little of the wire protocol that the load needs: what it sends, and what it looks at."""

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct
from picows import WSMsgType

Format: TypeAlias = Literal["json", "msgpack"]


class Seen(Struct, frozen=True):
    """What of a view decides on the next command."""

    log: str
    seq: int
    phase: str
    deal: int
    turn: int
    to_play: int | None = None
    options: dict[str, list[list[str]]] | None = None


class Heard(Struct, frozen=True):
    """A frame of the server."""

    type: str
    re: int | list[int] | None = None
    seq: int = -1
    room: str | None = None
    token: str | None = None
    code: str | None = None
    message: str | None = None
    view: Seen | None = None


class Codec:
    """One subprotocol as the load speaks it."""

    def __init__(self, fmt: Format) -> None:
        binary = fmt == "msgpack"
        self.subprotocol: Final = f"scopa.v1.{fmt}"
        self.kind: Final = WSMsgType.BINARY if binary else WSMsgType.TEXT
        self.encode: Final[Callable[[Any], bytes]] = (
            msgspec.msgpack.Encoder().encode if binary else msgspec.json.Encoder().encode
        )
        self.decode: Final[Callable[[memoryview | bytes], Heard]] = (
            msgspec.msgpack.Decoder(Heard).decode if binary else msgspec.json.Decoder(Heard).decode
        )


CODECS: Final[dict[Format, Codec]] = {"json": Codec("json"), "msgpack": Codec("msgpack")}

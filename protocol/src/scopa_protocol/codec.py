"""Frames to bytes and back, in both subprotocols."""

import re
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

import msgspec
from msgspec import Raw, Struct

from .cards import CARD_PATTERN
from .codes import ErrorCode
from .commands import ClientCommand
from .events import RoomEvent
from .frames import Bye, Error, Hello, HistoryFrame, Joined, Pong, RoomFrame, ServerFrame, Update
from .updates import JsonUpdates, MsgpackUpdates, UpdateWriter
from .views import View

Format: TypeAlias = Literal["json", "msgpack"]

SUBPROTOCOLS: Final[dict[str, Format]] = {
    "scopa.v1.json": "json",
    "scopa.v1.msgpack": "msgpack",
}
MAX_FRAME: Final = 16 * 1024
"""Bytes of the largest frame that the server takes."""

T = TypeVar("T")


class BadMessage(ValueError):
    """A frame that isn't a command; `id` is the command's number where it could be read.

    `code`: what it is answered with, `bad_rules` or `bad_settings` where only these are wrong.
    """

    def __init__(
        self, reason: str, command_id: int | None, code: ErrorCode = ErrorCode.BAD_MESSAGE
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.id = command_id
        self.code = code


class _UpdateIn(Struct, frozen=True, kw_only=True, tag_field="type", tag="update"):
    re: list[int] | None = None
    seq: int
    events: list[Raw]
    view: View


class _Unknown(Struct, frozen=True):
    type: str


class _Numbered(Struct, frozen=True):
    id: Any = None


_Known: TypeAlias = Hello | Pong | RoomFrame | Joined | _UpdateIn | HistoryFrame | Error | Bye


class Codec:
    """One subprotocol's way of writing; `binary` tells which kind of frame carries it."""

    def __init__(self, fmt: Format) -> None:
        self.format: Final = fmt
        self.binary: Final = fmt == "msgpack"
        self.encode: Callable[[Any], bytes] = (
            msgspec.msgpack.encode if self.binary else msgspec.json.encode
        )
        self.updates: Final[UpdateWriter] = MsgpackUpdates() if self.binary else JsonUpdates()
        self._command: Callable[[bytes], ClientCommand] = self._decoder(ClientCommand)
        self._numbered = self._decoder(_Numbered)
        self._frame = self._decoder(_Known)
        self._type = self._decoder(_Unknown)
        self._event = self._decoder(RoomEvent)

    def _decoder(self, kind: Any) -> Callable[[bytes | str], Any]:
        if self.binary:
            return cast(Any, msgspec.msgpack.Decoder(kind)).decode  # type: ignore[no-any-return]
        return cast(Any, msgspec.json.Decoder(kind)).decode  # type: ignore[no-any-return]

    def decode_command(self, data: bytes) -> ClientCommand:
        """The command in a client's frame. Raises BadMessage with words for its author."""
        try:
            return self._command(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise BadMessage(_reason(fault), self._id(data), _code(fault)) from None

    def _id(self, data: bytes) -> int | None:
        try:
            number = self._numbered(data).id
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        whole = isinstance(number, int) and not isinstance(number, bool)
        return number if whole and 1 <= number < 2**53 else None

    def decode_frame(self, data: bytes) -> ServerFrame | None:
        """A server's frame; None for a type of a later version.

        Raises ValueError for anything that isn't a frame. Events that aren't known are left out.
        """
        try:
            frame = self._frame_in(data)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if isinstance(frame, _UpdateIn):
            events = [event for raw in frame.events if (event := self._known(raw)) is not None]
            return Update(re=frame.re, seq=frame.seq, events=events, view=frame.view)
        return cast(ServerFrame | None, frame)

    def _frame_in(self, data: bytes) -> Any:
        try:
            return self._frame(data)
        except msgspec.ValidationError:
            if self._type(data).type in _KNOWN_TYPES:
                raise
            return None

    def _known(self, raw: Raw) -> RoomEvent | None:
        try:
            return cast(RoomEvent, self._event(bytes(raw)))
        except msgspec.ValidationError:
            return None


_KNOWN_TYPES: Final = frozenset(
    {"hello", "pong", "room", "joined", "update", "history", "error", "bye"}
)


def _reason(fault: Exception) -> str:
    """What is wrong with a frame, without repeating what stood in it."""
    if isinstance(fault, RecursionError):
        return "nested too deeply"
    if not isinstance(fault, msgspec.ValidationError):
        return "not a well-formed map"
    text = str(fault)
    no_card = _NO_CARD.fullmatch(text)
    if no_card:
        return f"Expected `str` matching regex {CARD_PATTERN!r}{no_card[1]}"
    if text.startswith(("Invalid value", "Invalid enum value")):
        return "unknown or wrong value" + _place(text)
    if "unknown field" in text and not _PLAIN_FIELD.fullmatch(text):
        return "unknown field"
    return text


def _code(fault: Exception) -> ErrorCode:
    """Whether a command is one but for the values inside its rules or settings."""
    found = _INSIDE.search(str(fault)) if isinstance(fault, msgspec.ValidationError) else None
    return _CODES[found[1]] if found else ErrorCode.BAD_MESSAGE


_INSIDE: Final = re.compile(r"(?:of length <= \d+ - at `\$\.|`\$\.(?=\w+\[))(rules|settings)[`\[]")
_CODES: Final = {"rules": ErrorCode.BAD_RULES, "settings": ErrorCode.BAD_SETTINGS}

_NO_CARD: Final = re.compile(r"Invalid enum value .*( - at `\$\.(?:card|take\[\d+\])`)", re.DOTALL)

# A slip of the pen may be named; longer, it could be a token in the wrong place.
_PLAIN_FIELD: Final = re.compile(r"Object contains unknown field `[a-z_]{1,20}`")


def _place(text: str) -> str:
    _, dash, place = text.rpartition(" - at ")
    return f" at {place}" if dash else ""


JSON: Final = Codec("json")
MSGPACK: Final = Codec("msgpack")
CODECS: Final[dict[Format, Codec]] = {"json": JSON, "msgpack": MSGPACK}

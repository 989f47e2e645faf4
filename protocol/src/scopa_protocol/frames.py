"""What the server sends: one map a frame, told apart by `type`."""

from typing import Any, TypeAlias

from msgspec import Struct

from .events import RoomEvent
from .history import HistoryDeal
from .rules import Rules
from .settings import Settings
from .views import Phase, SeatView, View


class Frame(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """Anything the server sends."""


class Limits(Struct, frozen=True, kw_only=True):
    """What the server takes from one connection."""

    frame_bytes: int
    waiting: int
    seat_connections: int
    name_length: int
    say_length: int


class Hello(Frame, tag="hello", frozen=True, kw_only=True):
    """The first frame. `version` is the wire's, `server` names the program."""

    version: int
    server: str
    limits: Limits
    variants: list[str]
    bot_levels: list[str]
    key_needed: bool


class Pong(Frame, tag="pong", frozen=True, kw_only=True):
    """The answer to a ping; `seq` and `log` of the room, inside one."""

    re: int | None = None
    seq: int | None = None
    log: str | None = None


class RoomFrame(Frame, tag="room", frozen=True, kw_only=True):
    """What `look` shows; `passcode`: whether one is needed."""

    re: int | None = None
    room: str
    rules: Rules
    settings: Settings
    phase: Phase
    seats: list[SeatView]
    passcode: bool


class Talk(Struct, frozen=True, kw_only=True):
    """Something that was said."""

    name: str
    seat: int | None = None
    text: str


class Joined(Frame, tag="joined", frozen=True, kw_only=True):
    """You are in the room; `seat` is null when watching."""

    re: int | None = None
    room: str
    seat: int | None
    token: str | None = None
    invite: str
    talk: list[Talk]
    view: View

    def __repr__(self) -> str:
        """The type alone: it may carry a token."""
        return "<joined>"


class Update(Frame, tag="update", frozen=True, kw_only=True):
    """The room changed, or `re` was answered."""

    re: list[int] | None = None
    seq: int
    events: list[RoomEvent]
    view: View


class HistoryFrame(Frame, tag="history", frozen=True, kw_only=True):
    """Finished deals; `next` is the deal to ask from for more, null at the end."""

    re: int | None = None
    deals: list[HistoryDeal]
    next: int | None


class Error(Frame, tag="error", frozen=True, kw_only=True):
    """A command was refused."""

    re: int | None = None
    code: str
    message: str
    details: dict[str, Any] | None = None


class Bye(Frame, tag="bye", frozen=True, kw_only=True):
    """The server is about to close; `retry` false: don't reconnect by yourself."""

    code: str
    message: str
    retry: bool


ServerFrame: TypeAlias = Hello | Pong | RoomFrame | Joined | Update | HistoryFrame | Error | Bye

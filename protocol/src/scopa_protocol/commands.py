"""What a client may send: one map a frame, told apart by `type`."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from .cards import Card

MAX_INTEGER = 2**53 - 1

CommandId: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]
Number: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
# Wide enough that a wrong seat, name or token gets its own error, not `bad_message`.
SeatNumber: TypeAlias = Annotated[int, Meta(ge=-MAX_INTEGER, le=MAX_INTEGER)]
MOST = 64
"""Elements of a list or map in a command: more than there are rules, cards or seats."""
FEW = 16
"""Elements of a value in an override, if it is a list or map, wrong as they all are."""

if TYPE_CHECKING:
    Overrides: TypeAlias = dict[str, Any]
else:
    # A wrong value in it gets `bad_rules` or `bad_settings`, with the field's name; but no slip is
    # as big or deep as a frame may be, and to decode such a thing would hold everybody up.
    _Scalar = bool | int | float | str | None
    _Few = Meta(max_length=FEW)
    _Inner = _Scalar | Annotated[list[_Scalar], _Few] | Annotated[dict[str, _Scalar], _Few]
    _Value = _Scalar | Annotated[list[_Inner], _Few] | Annotated[dict[str, _Inner], _Few]
    Overrides = Annotated[dict[str, _Value], Meta(max_length=MOST)]


class Command(
    Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
):
    """Anything a client sends. `id`, if given, is answered by a frame whose `re` holds it."""

    id: CommandId | None = None

    def __repr__(self) -> str:
        """The type alone: a command may carry a token, a passcode or talk."""
        return f"<{self.__struct_config__.tag}>"


class Ping(Command, tag="ping", frozen=True, kw_only=True):
    """Are you there?"""


class Look(Command, tag="look", frozen=True, kw_only=True):
    """See a room's rules, settings and seats before sitting down."""

    room: str
    passcode: str | None = None


class Create(Command, tag="create", frozen=True, kw_only=True):
    """Open a room and sit at seat 0 as its host."""

    name: str
    rules: Overrides
    settings: Overrides | None = None
    passcode: str | None = None
    token: str | None = None
    key: str | None = None


class Join(Command, tag="join", frozen=True, kw_only=True):
    """Take a seat in a room."""

    room: str
    name: str
    seat: SeatNumber | None = None
    passcode: str | None = None
    token: str | None = None


class Resume(Command, tag="resume", frozen=True, kw_only=True):
    """Come back to the seat that a token stands for."""

    room: str
    token: str


class Watch(Command, tag="watch", frozen=True, kw_only=True):
    """Watch a room without sitting down."""

    room: str
    name: str
    passcode: str | None = None


class Leave(Command, tag="leave", frozen=True, kw_only=True):
    """Give the seat up for good, or stop watching."""


class Sit(Command, tag="sit", frozen=True, kw_only=True):
    """Move to an empty seat."""

    seat: SeatNumber


class Arrange(Command, tag="arrange", frozen=True, kw_only=True):
    """Host: say who sits where; null leaves a seat empty."""

    names: Annotated[list[str | None], Meta(max_length=MOST)]


class Configure(Command, tag="configure", frozen=True, kw_only=True):
    """Host: change rules, settings or the passcode (\"\" removes it)."""

    rules: Overrides | None = None
    settings: Overrides | None = None
    passcode: str | None = None


class SeatBot(Command, tag="seat_bot", frozen=True, kw_only=True):
    """Host: put a bot on an empty or vacant seat."""

    seat: SeatNumber
    level: str | None = None


class Unseat(Command, tag="unseat", frozen=True, kw_only=True):
    """Host: remove the bot or person of that name from a seat."""

    seat: SeatNumber
    name: str


class StandIn(Command, tag="stand_in", frozen=True, kw_only=True):
    """Host: let the server play an idle seat until its person acts."""

    seat: SeatNumber


class MakeHost(Command, tag="make_host", frozen=True, kw_only=True):
    """Hand the host's power on, or claim it when the host has long been away."""

    seat: SeatNumber
    name: str


class Start(Command, tag="start", frozen=True, kw_only=True):
    """Host: begin the match."""


class EndMatch(Command, tag="end_match", frozen=True, kw_only=True):
    """Host: abandon the running match."""


class FirstCard(Command, tag="first_card", frozen=True, kw_only=True):
    """Keep or refuse the deal's first card (Chkobba)."""

    deal: Number
    keep: bool


class Declare(Command, tag="declare", frozen=True, kw_only=True):
    """Declare the hand just dealt (Cirulla)."""

    deal: Number
    batch: Number
    kind: Literal["low", "three", "both"]
    matta: Annotated[int, Meta(ge=1, le=10)] | None = None


class Play(Command, tag="play", frozen=True, kw_only=True):
    """Play one card; `take` is what it captures, nothing lays it on the table."""

    deal: Number
    turn: Number
    card: Card
    take: Annotated[list[Card], Meta(max_length=MOST)]

    def __post_init__(self) -> None:
        """Raises ValueError for a card named twice."""
        if len(self.take) > 1 and len(set(self.take)) != len(self.take):
            raise ValueError("a card stands twice in take")


class Ready(Command, tag="ready", frozen=True, kw_only=True):
    """Seen the count, go on."""

    deal: Number


class Propose(Command, tag="propose", frozen=True, kw_only=True):
    """Propose to count the match under other scoring rules."""

    rules: Overrides


class Answer(Command, tag="answer", frozen=True, kw_only=True):
    """Agree to a proposal, or decline it."""

    proposal: Number
    agree: bool


class Pause(Command, tag="pause", frozen=True, kw_only=True):
    """Stop the clocks."""


class Unpause(Command, tag="unpause", frozen=True, kw_only=True):
    """Let the clocks go on."""


class Say(Command, tag="say", frozen=True, kw_only=True):
    """Say something; a `key` that this seat used before is not said again."""

    text: str
    key: str | None = None


class History(Command, tag="history", frozen=True, kw_only=True, rename={"from_deal": "from"}):
    """Ask for finished deals in full."""

    from_deal: Number | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_INTEGER)] | None = None


ClientCommand: TypeAlias = (
    Ping
    | Look
    | Create
    | Join
    | Resume
    | Watch
    | Leave
    | Sit
    | Arrange
    | Configure
    | SeatBot
    | Unseat
    | StandIn
    | MakeHost
    | Start
    | EndMatch
    | FirstCard
    | Declare
    | Play
    | Ready
    | Propose
    | Answer
    | Pause
    | Unpause
    | Say
    | History
)

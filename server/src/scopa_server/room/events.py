"""The log's events: facts in the past tense, with the secrets that `apply` needs.

They never leave the server as they are: `tell` builds what people hear of them.
"""

from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from scopa_protocol.settings import Settings
from scopa_protocol.views import Count
from scopa_server.rules import deal as deals

from .state import Shuffle

SCHEMA: Final = 1
"""Version of the events as they are written; a reader refuses a later one."""


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", gc=False):
    """A fact. Its repr shows nothing but its type: it may hold decks, salts and hashes."""

    def __repr__(self) -> str:
        """The type alone."""
        return f"<{self.__struct_config__.tag}>"


class Opened(Event, tag="opened", frozen=True, kw_only=True):
    """A room was opened. `passcode` is a hash."""

    variant: str
    overrides: dict[str, Any]
    settings: Settings
    passcode: str | None = None


class SeatTaken(Event, tag="seat_taken", frozen=True, kw_only=True):
    """A person (`token`: its hash) or a bot took a seat, or has it reserved."""

    seat: int
    name: str
    kind: Literal["person", "bot"]
    token: str | None = None
    level: str | None = None
    reserved: bool = False


class SeatLeft(Event, tag="seat_left", frozen=True, kw_only=True):
    """A seat, or the reservation of one, was given up or taken away."""

    seat: int
    name: str
    reserved: bool = False


class Arranged(Event, tag="arranged", frozen=True, kw_only=True):
    """People changed seats: at each seat, the seat where its present occupant sat before."""

    order: tuple[int | None, ...]


class Away(Event, tag="away", frozen=True, kw_only=True):
    """A seat's person has been gone for a while."""

    seat: int


class Back(Event, tag="back", frozen=True, kw_only=True):
    """A seat's person acts again."""

    seat: int


class StoodIn(Event, tag="stand_in", frozen=True, kw_only=True):
    """The server plays a seat until its person acts."""

    seat: int


class HostChanged(Event, tag="host_changed", frozen=True, kw_only=True):
    """Another seat has the host's power; None: nobody is left to have it."""

    seat: int | None


class Configured(Event, tag="configured", frozen=True, kw_only=True):
    """What the room plays, how it is run and who gets in, all of it anew."""

    variant: str
    overrides: dict[str, Any]
    settings: Settings
    passcode: str | None = None


class MatchStarted(Event, tag="match_started", frozen=True, kw_only=True):
    """A match began."""

    match: int


class DealerDrawn(Event, tag="dealer_drawn", frozen=True, kw_only=True):
    """Cards were drawn for the first deal."""

    draws: tuple[tuple[int, str], ...]
    dealer: int


class Shuffled(Event, tag="shuffled", frozen=True, kw_only=True):
    """The next deal's deck was fixed, and committed to."""

    shuffle: Shuffle


class DealVoided(Event, tag="deal_voided", frozen=True, kw_only=True):
    """The deck that was next gave a void deal."""

    deal: int
    dealer: int


class Dealt(Event, tag="dealt", frozen=True, kw_only=True):
    """A batch was handed out; the first one uses the deck that was next."""

    deal: int
    batch: int
    dealer: int


class FirstCardOffered(Event, tag="first_card_offered", frozen=True, kw_only=True):
    """The deal's first card was shown to the leader; it uses the deck that was next."""

    deal: int
    dealer: int


class FirstCardKept(Event, tag="first_card_kept", frozen=True, kw_only=True):
    """The first card was kept."""

    seat: int


class FirstCardLaid(Event, tag="first_card_laid", frozen=True, kw_only=True):
    """The first card was refused, and begins the table."""

    seat: int
    card: str


class OpeningSwept(Event, tag="opening_swept", frozen=True, kw_only=True):
    """The opening table went to the dealer, for so many scope."""

    seat: int
    cards: tuple[str, ...]
    scope: int


class Declared(Event, tag="declared", frozen=True, kw_only=True):
    """A hand was declared and laid open."""

    declared: deals.Declared


class Played(Event, tag="played", frozen=True, kw_only=True):
    """A card was played, with what came of it."""

    play: deals.Play


class Leftovers(Event, tag="leftovers", frozen=True, kw_only=True):
    """The cards left on the table went to the seat that captured last."""

    seat: int
    cards: tuple[str, ...]


class DealCounted(Event, tag="deal_counted", frozen=True, kw_only=True):
    """A deal was counted; `totals` are the match's after it."""

    count: Count


class MatchWon(Event, tag="match_won", frozen=True, kw_only=True):
    """A side won the match."""

    side: int
    totals: tuple[int, ...]


class MatchEnded(Event, tag="match_ended", frozen=True, kw_only=True):
    """The host abandoned the match."""


class Readied(Event, tag="readied", frozen=True, kw_only=True):
    """A seat has seen the count."""

    seat: int
    deal: int


class Proposed(Event, tag="proposed", frozen=True, kw_only=True):
    """A seat proposed other scoring rules; `totals` as they would be."""

    proposal: int
    seat: int
    rules: dict[str, bool | int | str]
    asked: tuple[int, ...]
    totals: tuple[int, ...]


class Agreed(Event, tag="agreed", frozen=True, kw_only=True):
    """A seat agreed to the open proposal."""

    seat: int


class ProposalDropped(Event, tag="proposal_dropped", frozen=True, kw_only=True):
    """The open proposal came to nothing; `seat`: who declined, if anybody did."""

    seat: int | None = None


class Rescored(Event, tag="rescored", frozen=True, kw_only=True):
    """The match was counted again: points of its deals in order, and the latest one's count."""

    rules: dict[str, bool | int | str]
    points: tuple[tuple[int, ...], ...]
    count: Count


class Paused(Event, tag="paused", frozen=True, kw_only=True):
    """The clocks stopped; `used`: what the one that ran had used (ms), if the server could say."""

    seat: int
    used: int | None = None


class Unpaused(Event, tag="unpaused", frozen=True, kw_only=True):
    """The clocks go on."""

    seat: int


class Said(Event, tag="said", frozen=True, kw_only=True):
    """Somebody said something."""

    name: str
    seat: int | None
    text: str
    key: str | None = None


LogEvent: TypeAlias = (
    Opened
    | SeatTaken
    | SeatLeft
    | Arranged
    | Away
    | Back
    | StoodIn
    | HostChanged
    | Configured
    | MatchStarted
    | DealerDrawn
    | Shuffled
    | DealVoided
    | Dealt
    | FirstCardOffered
    | FirstCardKept
    | FirstCardLaid
    | OpeningSwept
    | Declared
    | Played
    | Leftovers
    | DealCounted
    | MatchWon
    | MatchEnded
    | Readied
    | Proposed
    | Agreed
    | ProposalDropped
    | Rescored
    | Paused
    | Unpaused
    | Said
)
Events: TypeAlias = tuple[LogEvent, ...]


class UnreadableLog(Exception):
    """A log or snapshot that this release can't read; written by a later one, or damaged."""


class _Page(Struct, frozen=True, kw_only=True):
    v: int
    events: Events


_pages: Final = msgspec.json.Decoder(_Page)
_encode: Final = msgspec.json.Encoder().encode


def write_events(events: Events) -> bytes:
    """A commit's events as they are stored."""
    return _encode(_Page(v=SCHEMA, events=events))


def read_events(payload: bytes) -> Events:
    """A commit's events. Raises UnreadableLog."""
    try:
        page = _pages.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UnreadableLog("a commit holds events that this release doesn't know") from None
    if page.v > SCHEMA:
        raise UnreadableLog("a commit was written by a later release")
    return page.events

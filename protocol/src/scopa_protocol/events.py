"""What happened, as a room's people are told it. Views are complete without it."""

from typing import Literal, TypeAlias

from msgspec import Struct

from .cards import Card
from .rules import Rules
from .views import Count, Proof, Proposal


class Event(Struct, frozen=True, kw_only=True, tag_field="type"):
    """Anything that happened in a room."""


class SeatTaken(Event, tag="seat_taken", frozen=True, kw_only=True):
    """Somebody sat down, or will from the next deal."""

    seat: int
    name: str
    kind: Literal["person", "bot"]


class SeatLeft(Event, tag="seat_left", frozen=True, kw_only=True):
    """Somebody gave a seat up, or was removed from it."""

    seat: int
    name: str


class Arranged(Event, tag="arranged", frozen=True, kw_only=True):
    """People changed seats."""


class Presence(Event, tag="presence", frozen=True, kw_only=True):
    """A seat's person is connected, or no longer."""

    seat: int
    online: bool


class Away(Event, tag="away", frozen=True, kw_only=True):
    """A seat's person has been gone for a while."""

    seat: int


class Back(Event, tag="back", frozen=True, kw_only=True):
    """A seat's person is back and plays again."""

    seat: int


class WatcherCame(Event, tag="watcher_came", frozen=True, kw_only=True):
    """Somebody watches."""

    name: str


class WatcherLeft(Event, tag="watcher_left", frozen=True, kw_only=True):
    """Somebody stopped watching."""

    name: str


class HostChanged(Event, tag="host_changed", frozen=True, kw_only=True):
    """Another seat has the host's power."""

    seat: int


class Configured(Event, tag="configured", frozen=True, kw_only=True):
    """Rules, settings or the passcode changed."""


class MatchStarted(Event, tag="match_started", frozen=True, kw_only=True):
    """A match began."""

    match: int


class DealerDrawn(Event, tag="dealer_drawn", frozen=True, kw_only=True):
    """Cards were drawn for the first deal: every draw in order, redraws of ties included."""

    draws: list[tuple[int, Card]]
    dealer: int


class DealVoided(Event, tag="deal_voided", frozen=True, kw_only=True):
    """A deal was void; it is shown whole."""

    deal: int
    table: list[Card]
    hands: list[list[Card]]
    proof: Proof


class Dealt(Event, tag="dealt", frozen=True, kw_only=True):
    """Cards were handed out; `cards` counts them by seat."""

    deal: int
    batch: int
    dealer: int
    cards: list[int]


class OpeningSwept(Event, tag="opening_swept", frozen=True, kw_only=True):
    """The opening table went to the dealer's side."""

    side: int
    cards: list[Card]
    scope: int


class FirstCardOffered(Event, tag="first_card_offered", frozen=True, kw_only=True):
    """A seat was shown the deal's first card."""

    deal: int
    dealer: int
    seat: int


class FirstCardKept(Event, tag="first_card_kept", frozen=True, kw_only=True):
    """The first card was kept."""

    seat: int


class FirstCardLaid(Event, tag="first_card_laid", frozen=True, kw_only=True):
    """The first card was refused and lies on the table."""

    seat: int
    card: Card


class Declared(Event, tag="declared", frozen=True, kw_only=True):
    """A seat declared its hand and laid it open."""

    seat: int
    kind: str
    cards: list[Card]
    matta: int | None = None
    points: int


class Played(Event, tag="played", frozen=True, kw_only=True):
    """A card was played; `auto`: the server played it for the seat."""

    seat: int
    card: Card
    take: list[Card]
    scopa: bool
    to_pile: bool
    auto: bool


class Leftovers(Event, tag="leftovers", frozen=True, kw_only=True):
    """The last cards on the table went to the side that captured last."""

    side: int
    cards: list[Card]


class DealCounted(Event, tag="deal_counted", frozen=True, kw_only=True):
    """A deal was counted."""

    count: Count


class MatchWon(Event, tag="match_won", frozen=True, kw_only=True):
    """A side won the match."""

    side: int
    totals: list[int]


class MatchEnded(Event, tag="match_ended", frozen=True, kw_only=True):
    """The host abandoned the match."""


class RulesProposed(Event, tag="rules_proposed", frozen=True, kw_only=True):
    """Somebody proposed to count under other rules."""

    proposal: Proposal


class ProposalDropped(Event, tag="proposal_dropped", frozen=True, kw_only=True):
    """A proposal came to nothing."""


class Rescored(Event, tag="rescored", frozen=True, kw_only=True):
    """The match was counted again under changed rules."""

    rules: Rules
    totals: list[int]


class Paused(Event, tag="paused", frozen=True, kw_only=True):
    """The clocks stopped."""

    seat: int


class Unpaused(Event, tag="unpaused", frozen=True, kw_only=True):
    """The clocks go on."""

    seat: int


class Said(Event, tag="said", frozen=True, kw_only=True):
    """Somebody said something; `seat` is null for a watcher."""

    name: str
    seat: int | None = None
    text: str


class StoodIn(Event, tag="stand_in", frozen=True, kw_only=True):
    """The server plays a seat until its person acts."""

    seat: int


RoomEvent: TypeAlias = (
    SeatTaken
    | SeatLeft
    | Arranged
    | Presence
    | Away
    | Back
    | WatcherCame
    | WatcherLeft
    | HostChanged
    | Configured
    | MatchStarted
    | DealerDrawn
    | DealVoided
    | Dealt
    | OpeningSwept
    | FirstCardOffered
    | FirstCardKept
    | FirstCardLaid
    | Declared
    | Played
    | Leftovers
    | DealCounted
    | MatchWon
    | MatchEnded
    | RulesProposed
    | ProposalDropped
    | Rescored
    | Paused
    | Unpaused
    | Said
    | StoodIn
)

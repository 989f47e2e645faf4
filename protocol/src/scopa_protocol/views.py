"""The view: everything one seat, or a watcher, may see of a room, complete in itself."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from .cards import Card
from .rules import Rules
from .settings import Settings

Phase: TypeAlias = Literal["lobby", "playing", "deal_over", "match_over"]
SeatKind: TypeAlias = Literal["person", "bot", "empty", "vacant"]
ClockKind: TypeAlias = Literal["turn", "absent", "next_deal", "proposal"]


class SeatView(Struct, frozen=True, kw_only=True, gc=False):
    """One seat. `reserved`: who sits here from the next deal."""

    seat: int
    name: str | None = None
    kind: SeatKind
    online: bool
    away: bool
    stand_in: bool
    reserved: str | None = None
    side: int
    cards: int
    ready: bool
    revealed: list[Card] | None = None


class SideView(Struct, frozen=True, kw_only=True, gc=False):
    """One side in the running deal; `score` is the match's."""

    side: int
    score: int
    captured: int
    scope: int
    scope_cards: list[Card]


class Clock(Struct, frozen=True, kw_only=True, gc=False):
    """What the table waits for, and how many milliseconds are left."""

    kind: ClockKind
    left_ms: int


class RecentPlay(Struct, frozen=True, kw_only=True, gc=False):
    """A play of the running deal. `to_pile`: the card itself went to the player's pile."""

    seat: int
    card: Card
    take: list[Card]
    scopa: bool
    to_pile: bool
    auto: bool


class Declaration(Struct, frozen=True, kw_only=True, gc=False):
    """What a seat may declare now."""

    kind: str
    matta: int | None = None
    points: int


class Matta(Struct, frozen=True, kw_only=True, gc=False):
    """The seven of cups while it stands for another value."""

    value: int
    seat: int


class SideCount(Struct, frozen=True, kw_only=True, gc=False):
    """One side's count of a deal; `points` holds only the items that scored."""

    cards: int
    coins: int
    primiera: int | None = None
    scope: int
    points: dict[str, int]
    total: int
    pile: list[Card]


class LeftoverCards(Struct, frozen=True, kw_only=True, gc=False):
    """Cards that lay on the table at the end, and the side they went to."""

    side: int
    cards: list[Card]


class Proof(Struct, frozen=True, kw_only=True, gc=False):
    """What the commitment was made of: hex salt, and the deck as it was hashed."""

    salt: str
    deck: str


class Count(Struct, frozen=True, kw_only=True, gc=False):
    """The count of a finished deal."""

    deal: int
    sides: list[SideCount]
    totals: list[int]
    leftovers: LeftoverCards | None = None
    proof: Proof


class MatchResult(Struct, frozen=True, kw_only=True, gc=False):
    """A match that is over."""

    winner: int | None = None
    totals: list[int]
    abandoned: bool


class Proposal(Struct, frozen=True, kw_only=True, gc=False):
    """Scoring rules that somebody proposed, and how the totals would be under them."""

    id: int
    by: int
    rules: dict[str, bool | int | str]
    agreed: list[int]
    waiting: list[int]
    totals: list[int]


class LastingView(Struct, frozen=True, kw_only=True, gc=False):
    """What everybody may see of a room that stays as it is while cards are played."""

    room: str
    log: str
    phase: Phase
    paused_by: int | None = None
    passcode: bool
    rules: Rules
    settings: Settings
    host: int | None = None
    watchers: list[str]
    match: int
    deal: int
    batch: int
    dealer: int | None = None
    deals: list[list[int]]
    count: Count | None = None
    matches: list[MatchResult]
    winner: int | None = None
    proposal: Proposal | None = None
    commitment: str | None = None


class ListedView(Struct, frozen=True, kw_only=True, gc=False):
    """What everybody may see of a room in lists, of which a card changes little."""

    seats: list[SeatView]
    sides: list[SideView]
    recent: list[RecentPlay]
    gone: list[Card] | None = None


class TableView(Struct, frozen=True, kw_only=True, gc=False):
    """What everybody may see of a room that every card changes."""

    turn: int
    to_play: int | None = None
    clock: Clock | None = None
    table: Sequence[Card]
    stock: int
    matta: Matta | None = None


class OwnView(Struct, frozen=True, kw_only=True, gc=False):
    """What one viewer alone may see beside all that; a watcher, nothing."""

    you: int | None = None
    hand: Sequence[Card] | None = None
    options: Mapping[str, Sequence[Sequence[Card]]] | None = None
    options_cut: bool = False
    declarations: list[Declaration] = []
    first_card: Card | None = None


class View(LastingView, frozen=True, kw_only=True):
    """All that one viewer may see; whoever renders the latest is right."""

    seq: int
    seats: list[SeatView]
    sides: list[SideView]
    turn: int
    to_play: int | None = None
    clock: Clock | None = None
    table: list[Card]
    stock: int
    matta: Matta | None = None
    recent: list[RecentPlay]
    gone: list[Card] | None = None
    you: int | None = None
    hand: list[Card] | None = None
    options: dict[str, list[list[Card]]] | None = None
    options_cut: bool = False
    declarations: list[Declaration]
    first_card: Card | None = None


def whole(
    seq: int, lasting: LastingView, listed: ListedView, table: TableView, own: OwnView
) -> View:
    """A view from its parts."""
    parts: tuple[Struct, ...] = (lasting, listed, table, own)
    fields = {name: getattr(part, name) for part in parts for name in part.__struct_fields__}
    fields["table"] = list(table.table)
    if own.hand is not None:
        fields["hand"] = list(own.hand)
    if own.options is not None:
        fields["options"] = {card: list(map(list, sets)) for card, sets in own.options.items()}
    return View(seq=seq, **fields)

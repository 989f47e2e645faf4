"""The state of a room: what its log adds up to. Values only; `apply` makes the next one."""

from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from scopa_protocol.settings import Settings
from scopa_protocol.views import Count, MatchResult, Phase
from scopa_server.rules.count import DealFacts
from scopa_server.rules.deal import Deal, Declared, Play
from scopa_server.rules.opening import asked
from scopa_server.rules.record import Rules

SeatKind: TypeAlias = Literal["person", "bot", "empty", "vacant"]


class Value(Struct, frozen=True, kw_only=True, gc=False):
    """A part of the state. Its repr shows nothing: it may hold hands, decks, salts, hashes.

    Nothing in it leads back to it, so the garbage collector needn't look (`gc=False`).
    """

    def __repr__(self) -> str:
        """The type alone."""
        return f"<{type(self).__name__}>"


class Shuffle(Value, frozen=True, kw_only=True, cache_hash=True):
    """A deck in the order of dealing and the salt of its commitment (64 hex digits)."""

    deck: tuple[str, ...]
    salt: str


class Holder(Value, frozen=True, kw_only=True):
    """Who has a seat reserved, with the hash of the token."""

    name: str
    token: str


class Seat(Value, frozen=True, kw_only=True):
    """One seat. `token` is the hash of its person's token; `stand_in`: the server plays it.

    `away_at`: when the log said that its person is away (ms), 0 if it was not noted.
    """

    kind: SeatKind = "empty"
    name: str | None = None
    token: str | None = None
    level: str | None = None
    away: bool = False
    away_at: int = 0
    stand_in: bool = False
    ready: bool = False
    reserved: Holder | None = None

    @property
    def holder(self) -> Holder | None:
        """The person that this seat belongs to, now or from the next deal."""
        if self.reserved is not None:
            return self.reserved
        if self.kind == "person" and self.name is not None and self.token is not None:
            return Holder(name=self.name, token=self.token)
        return None

    @property
    def held_by(self) -> str | None:
        """The hash of that person's token."""
        if self.reserved is not None:
            return self.reserved.token
        return self.token if self.kind == "person" and self.name is not None else None

    @property
    def served(self) -> bool:
        """Whether the server plays this seat in a running match."""
        return self.kind in {"bot", "vacant"} or self.stand_in


class Saying(Value, frozen=True, kw_only=True):
    """Something that was said, and the key it was said under."""

    name: str
    seat: int | None
    text: str
    key: str | None


class Finished(Value, frozen=True, kw_only=True):
    """A counted deal of the running match: the facts to count it again, and how it scored."""

    deal: int
    facts: DealFacts
    points: tuple[int, ...]


class Proposal(Value, frozen=True, kw_only=True):
    """Scoring rules that a seat proposed, and who has answered (rulebook, Rescoring).

    The latest one stays when it is settled, so that an answer sent again is known.
    """

    id: int
    by: int
    rules: dict[str, bool | int | str]
    asked: tuple[int, ...]
    totals: tuple[int, ...]
    agreed: tuple[int, ...] = ()
    declined: int | None = None
    open: bool = True

    @property
    def waiting(self) -> tuple[int, ...]:
        """Those who were asked and have not agreed."""
        return tuple(seat for seat in self.asked if seat not in self.agreed)


class PastDeal(Value, frozen=True, kw_only=True):
    """What was decided in the latest finished deal, to recognise a command sent again."""

    deal: int
    plays: tuple[Play, ...]
    ready: frozenset[int] = frozenset()
    declared: tuple[Declared, ...] = ()


class FirstCard(Value, frozen=True, kw_only=True):
    """A choice that was made, to recognise it when it is sent again."""

    deal: int
    seat: int
    keep: bool


class Room(Value, frozen=True, kw_only=True):
    """A room. `at`: the latest commit's time; `clock_from`, `clock_used`: when the present
    decision's clock last started, and what it had used before (ms, the store's time)."""

    code: str
    seq: int = 0
    at: int = 0
    overrides: dict[str, Any] = field(default_factory=dict[str, Any])
    rules: Rules = Rules()
    settings: Settings = Settings()
    passcode: str | None = None
    seats: tuple[Seat, ...] = ()
    host: int | None = None
    phase: Phase = "lobby"
    paused_by: int | None = None
    match: int = 0
    deal_number: int = 0
    dealer: int | None = None
    deal: Deal | None = None
    shuffle: Shuffle | None = None
    next_shuffle: Shuffle | None = None
    past: PastDeal | None = None
    first_cards: tuple[FirstCard, ...] = ()
    finished: tuple[Finished, ...] = ()
    totals: tuple[int, ...] = ()
    count: Count | None = None
    matches: tuple[MatchResult, ...] = ()
    winner: int | None = None
    proposal: Proposal | None = None
    talk: tuple[Saying, ...] = ()
    clock_from: int = 0
    clock_used: int = 0

    @property
    def in_match(self) -> bool:
        """Whether a match is running."""
        return self.phase in {"playing", "deal_over"}

    @property
    def to_play(self) -> int | None:
        """The seat whose card is awaited."""
        return self.deal.to_play if self.deal is not None and self.phase == "playing" else None

    @property
    def proposed(self) -> Proposal | None:
        """The proposal that is open now."""
        return self.proposal if self.proposal is not None and self.proposal.open else None

    @property
    def offered(self) -> Deal | None:
        """The deal whose first card was offered, while nothing of it is dealt."""
        deal = self.deal
        return deal if deal is not None and deal.batch == 0 and self.phase == "playing" else None

    @property
    def asked(self) -> int | None:
        """The seat that must keep or refuse the first card."""
        deal = self.deal
        if deal is None or deal.batch or self.phase != "playing":
            return None
        return asked(deal)

    @property
    def awaited(self) -> int | None:
        """The seat that the table waits for: for its card, or for what it does with the first."""
        deal = self.deal
        if deal is None or self.phase != "playing":
            return None
        first = None if deal.batch else asked(deal)
        return deal.to_play if first is None else first

    def seat_of(self, token: str) -> int | None:
        """The seat that a token's hash stands for."""
        for number, seat in enumerate(self.seats):
            if seat.held_by == token:
                return number
        return None

"""Finished deals in full, as `history` tells them: everything in them is public by then."""

from msgspec import Struct

from .cards import Card
from .rules import Rules
from .views import Count, Proof


class ShownCard(Struct, frozen=True, kw_only=True):
    """The deal's first card, shown to `seat`: kept, or laid on the table."""

    seat: int
    card: Card
    kept: bool


class SweptOpening(Struct, frozen=True, kw_only=True):
    """An opening table that went to the dealer's side, and the scope it was worth."""

    side: int
    cards: list[Card]
    scope: int


class HandDeclared(Struct, frozen=True, kw_only=True):
    """A hand that was declared, in the order of the declarations."""

    batch: int
    seat: int
    kind: str
    cards: list[Card]
    matta: int | None = None
    points: int


class HistoryDeal(Struct, frozen=True, kw_only=True):
    """One finished deal.

    `deals`: the hands as dealt, by batch and seat; `table`: as it opened; `plays`: seat, card,
    what it took, whether it was a scopa. A void deal has no plays and no count.
    """

    deal: int
    match: int
    void: bool
    dealer: int
    rules: Rules
    first_card: ShownCard | None = None
    deals: list[list[list[Card]]]
    table: list[Card]
    opening_swept: SweptOpening | None = None
    declared: list[HandDeclared]
    plays: list[tuple[int, Card, list[Card], bool]]
    count: Count | None = None
    proof: Proof

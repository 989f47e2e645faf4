"""Checking a finished deal against its commitment, and its hands against the deck's order."""

import hashlib
from typing import Final

from msgspec import Struct

from .cards import SUITS
from .history import HistoryDeal
from .rules import Rules
from .views import Proof

SALT_BYTES: Final = 32
DECK: Final = sorted(f"{value}{suit}" for suit in SUITS for value in range(1, 11))


class Layout(Struct, frozen=True):
    """Where a deck's cards go: hands by batch and seat, and the opening table."""

    hands: list[list[list[str]]]
    table: list[str]


def commitment(proof: Proof) -> str | None:
    """The hash that was to be shown before the deal; None for what is no proof."""
    try:
        salt = bytes.fromhex(proof.salt)
        deck = proof.deck.encode("ascii")
    except ValueError:
        return None
    return hashlib.sha256(salt + deck).hexdigest() if len(salt) == SALT_BYTES else None


def deal_out(deck: list[str], rules: Rules, dealer: int, *, first_laid: bool = False) -> Layout:
    """Deal 40 cards in the order that the rulebook fixes.

    One card to each seat from the leader on, round by round; in the first batch the table after
    that. A first card that was refused lies on the table before any hand is dealt.
    """
    players = rules.players
    size = rules.hand * players
    laid, rest = (deck[:1], deck[1:]) if first_laid else ([], deck)
    opening = len(deck) % size - len(laid)
    table = [*laid, *rest[size : size + opening]]
    stock = rest[size + opening :]
    batches = [rest[:size], *(stock[at : at + size] for at in range(0, len(stock), size))]
    leader = (dealer + 1) % players
    hands = [
        [batch[(seat - leader) % players :: players] for seat in range(players)]
        for batch in batches
    ]
    return Layout(hands, table)


def faults(deal: HistoryDeal) -> list[str]:
    """What of a deal's record doesn't follow from its deck, in words; nothing if all does."""
    deck = deal.proof.deck.split(",")
    if sorted(deck) != DECK:
        return ["the deck isn't the 40 cards, each once"]
    if deal.rules.hand * deal.rules.players > len(deck):
        return ["there aren't so many cards to deal"]
    first = deal.first_card
    laid = first is not None and not first.kept
    layout = deal_out(deck, deal.rules, deal.dealer, first_laid=laid)
    found = [] if first is None or first.card == deck[0] else [f"{first.card} isn't its first card"]
    if sorted(layout.table) != sorted(deal.table):
        found.append("the opening table isn't what that deck gives")
    return [*found, *_hands(deal, layout), *_plays(deal)]


def _hands(deal: HistoryDeal, layout: Layout) -> list[str]:
    """A void deal ends with its first batch; any other is dealt to its last card."""
    expected = layout.hands[: max(1, len(deal.deals))] if deal.void else layout.hands
    if len(deal.deals) != len(expected):
        return [f"{len(deal.deals)} batches are recorded, that deck gives {len(expected)}"]
    return [
        f"in batch {batch} seat {seat} doesn't hold what that deck gives"
        for batch, hands in enumerate(expected, 1)
        for seat, hand in enumerate(hands)
        if sorted(_at(deal.deals[batch - 1], seat)) != sorted(hand)
    ]


def _at(hands: list[list[str]], seat: int) -> list[str]:
    return hands[seat] if seat < len(hands) else []


def _plays(deal: HistoryDeal) -> list[str]:
    """Every seat plays what it was dealt, batch by batch."""
    played: dict[int, list[str]] = {}
    for seat, card, _, _ in deal.plays:
        played.setdefault(seat, []).append(card)
    held = {
        seat: [sorted(_at(hands, seat)) for hands in deal.deals]
        for seat in {*range(deal.rules.players), *played}
    }
    return [
        f"seat {seat} didn't play what it was dealt"
        for seat, hands in held.items()
        if deal.plays and not _in_batches(played.get(seat, []), hands)
    ]


def _in_batches(cards: list[str], hands: list[list[str]]) -> bool:
    for hand in hands:
        if sorted(cards[: len(hand)]) != hand:
            return False
        cards = cards[len(hand) :]
    return not cards

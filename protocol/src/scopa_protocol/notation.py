"""Finished deals as text that people read, edit and send: docs/notation.md says how."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import structs

from .history import HandDeclared, HistoryDeal
from .notation_reading import read_deals
from .notation_words import CARD, quoted
from .rules import Rules
from .views import Count, Proof, SideCount

__all__ = ["read_deals", "write_deal"]

COLUMNS: Final = 76
"""Where a line that can go on in another of the same kind is broken."""


def write_deal(deal: HistoryDeal) -> str:
    """A deal as text, every line with its end; `read_deals` reads the same deal from it."""
    return "".join(f"{line}\n" for line in _lines(deal))


def _lines(deal: HistoryDeal) -> Iterator[str]:
    yield f"deal {deal.deal}"
    yield f"match {deal.match}"
    yield f"dealer {deal.dealer}"
    if deal.void:
        yield "void"
    yield f"variant {quoted(deal.rules.variant)}"
    yield from _wrapped("rules", _rules(deal.rules))
    yield from _proof("", deal.proof)
    yield from _dealt(deal)
    for hand in deal.declared:
        yield from _declared(hand)
    for turn, (seat, card, take, scopa) in enumerate(deal.plays, 1):
        yield " ".join([f"{turn}. {seat} {card}", *(["x", *take] if take else []), *"!" * scopa])
    if deal.count is not None:
        yield from _count(deal, deal.count)


def _wrapped(head: str, words: Iterable[str], *, always: bool = False) -> Iterator[str]:
    """Lines that each begin with their head; without words none, unless one is always due."""
    line, written = head, not always
    for word in words:
        if line != head and len(line) + len(word) >= COLUMNS:
            yield line
            line = head
        line, written = f"{line} {word}", False
    if not written:
        yield line


def _rules(rules: Rules) -> list[str]:
    usual = structs.asdict(Rules())
    return [
        f"{field}={quoted(_value(value))}"
        for field, value in structs.asdict(rules).items()
        if field != "variant" and value != usual[field]
    ]


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _proof(prefix: str, proof: Proof) -> Iterator[str]:
    yield from _wrapped(f"{prefix}salt", [quoted(proof.salt)] if proof.salt else [])
    cards = proof.deck.split(",")
    if all(map(CARD.fullmatch, cards)):
        for first in range(0, len(cards), 10):
            yield " ".join([f"{prefix}deck", *cards[first : first + 10]])
    elif proof.deck:
        yield f"{prefix}deck text={quoted(proof.deck)}"


def _dealt(deal: HistoryDeal) -> Iterator[str]:
    first, swept = deal.first_card, deal.opening_swept
    if first is not None:
        yield f"first seat={first.seat} {first.card} {'kept' if first.kept else 'laid'}"
    for batch, hands in enumerate(deal.deals, 1):
        yield f"batch {batch}"
        for seat, hand in enumerate(hands):
            yield from _wrapped(f"hand {seat}", hand, always=True)
    yield from _wrapped("table", deal.table)
    if swept is not None:
        yield " ".join([f"swept side={swept.side} scope={swept.scope}", *swept.cards])


def _declared(hand: HandDeclared) -> Iterator[str]:
    matta = [] if hand.matta is None else [f"matta={hand.matta}"]
    facts = [f"batch={hand.batch} seat={hand.seat} kind={quoted(hand.kind)}", *matta]
    yield " ".join(["declared", *facts, f"points={hand.points}", *hand.cards])


def _count(deal: HistoryDeal, count: Count) -> Iterator[str]:
    if count.leftovers is not None:
        yield " ".join([f"leftovers side={count.leftovers.side}", *count.leftovers.cards])
    yield "count" if count.deal == deal.deal else f"count deal={count.deal}"
    for number, side in enumerate(count.sides):
        yield from _side(number, side)
    yield from _wrapped("totals", map(str, count.totals))
    if count.proof != deal.proof:
        yield "other-proof"
        yield from _proof("other-", count.proof)


def _side(number: int, side: SideCount) -> Iterator[str]:
    primiera = "" if side.primiera is None else f" primiera={side.primiera}"
    amounts = f"cards={side.cards} coins={side.coins}{primiera} scope={side.scope}"
    yield f"side {number} {amounts} total={side.total}"
    scored = (f"{quoted(item)}={points}" for item, points in side.points.items())
    yield from _wrapped(f"points {number}", scored)
    yield from _wrapped(f"pile {number}", side.pile)

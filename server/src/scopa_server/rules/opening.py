"""What may come before the first play: a choice, a sweep (rulebook, The deal 6 and 7)."""

from collections.abc import Sequence
from typing import Final

from scopa_server.rules.cards import MATTA, VALUE, Card
from scopa_server.rules.deal import Deal, Sweep, leader
from scopa_server.rules.record import Rules
from scopa_server.rules.value import changed

SCOPE: Final[dict[int, int]] = {15: 1, 30: 2}
"""What an opening table's total is worth."""


def offer(rules: Rules, dealer: int, deck: Sequence[Card]) -> Deal:
    """Show the deck's first card to the leader: nothing is dealt yet (rulebook, The deal 6)."""
    return Deal(
        rules=rules,
        dealer=dealer,
        deck=tuple(deck),
        batch=0,
        turn=0,
        to_play=None,
        hands=((),) * rules.players,
        table=(),
        piles=((),) * rules.players,
        sweeps=(),
        plays=(),
        last_taker=None,
        stock=len(deck),
    )


def asked(deal: Deal) -> int | None:
    """Name the seat that must keep or refuse the first card."""
    return leader(deal.rules, deal.dealer) if deal.batch == 0 and deal.laid is None else None


def choose(deal: Deal, *, laid: bool) -> Deal:
    """Keep the first card, or refuse it: dealing goes on (rulebook, The deal 6)."""
    return changed(deal, laid=laid)


def scope(rules: Rules, table: Sequence[Card]) -> int:
    """Count the scope that an opening table gives the dealer, if it isn't void."""
    if not rules.opening_sweep:
        return 0
    total = sum(VALUE[card] for card in table)
    totals = {total}
    if rules.matta and MATTA in table:
        others = total - VALUE[MATTA]
        totals = {others + named for named in range(1, 11)}
    # Fifteen values apart, never both.
    return sum(SCOPE[total] for total in totals & SCOPE.keys())


def sweep(deal: Deal, scope: int) -> Deal:
    """Give the dealer the opening table for so many scope (rulebook, The deal 7)."""
    dealer, table = deal.dealer, deal.table
    one = Sweep(seat=dealer, value=1, cards=len(table), kind="opening")
    piles = tuple(pile + table if seat == dealer else pile for seat, pile in enumerate(deal.piles))
    return changed(
        deal, table=(), piles=piles, sweeps=(*deal.sweeps, *[one] * scope), last_taker=dealer
    )

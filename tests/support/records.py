"""Finished deals as a server would tell them, played by the real rules."""

import hashlib
import random
from typing import Any

from msgspec import structs

from scopa_protocol.history import HistoryDeal, ShownCard
from scopa_protocol.rules import Rules
from scopa_protocol.views import Count, LeftoverCards, Proof, SideCount
from scopa_server.rules import deal as deals
from scopa_server.rules.count import count_deal, facts
from scopa_server.rules.record import build
from support.games import random_deal

SALT = "".join(f"{byte:02x}" for byte in range(32))


def a_deal(variant: str = "scopa", *, number: int = 3, seed: int = 7, **rules: Any) -> HistoryDeal:
    """A deal played at random, the same for the same seed."""
    chance = random.Random(seed)
    played = build(variant, rules)
    *_, last = random_deal(played, chance)
    chosen = [name for name in structs.fields(Rules) if hasattr(played, name.name)]
    return HistoryDeal(
        deal=number,
        match=1,
        void=False,
        dealer=last.dealer,
        rules=Rules(**{field.name: getattr(played, field.name) for field in chosen}),
        deals=hands(last),
        table=list(deals.begin(played, last.dealer, last.deck).table),
        declared=[],
        plays=[(play.seat, play.card, list(play.take), play.scopa) for play in last.plays],
        count=counted(last, number),
        proof=Proof(salt=SALT, deck=",".join(last.deck)),
    )


def hands(last: deals.Deal) -> list[list[list[str]]]:
    """Every batch's hands as they were dealt."""
    batch = deals.begin(last.rules, last.dealer, last.deck)
    dealt = [batch]
    while dealt[-1].stock:
        dealt.append(deals.next_batch(dealt[-1]))
    return [[list(hand) for hand in one.hands] for one in dealt]


def counted(last: deals.Deal, number: int) -> Count:
    """The count of a deal that is over."""
    finished, left = deals.finish(last), deals.leftovers(last)
    counts = count_deal(last.rules, facts(finished))
    sides = [
        SideCount(
            cards=count.cards,
            coins=count.coins,
            primiera=count.primiera,
            scope=count.scope,
            points=dict(count.points),
            total=count.total,
            pile=[card for pile in finished.piles[side :: last.rules.sides] for card in pile],
        )
        for side, count in enumerate(counts)
    ]
    return Count(
        deal=number,
        sides=sides,
        totals=[count.total for count in counts],
        leftovers=left and LeftoverCards(side=left[0] % last.rules.sides, cards=list(left[1])),
        proof=Proof(salt=SALT, deck=",".join(last.deck)),
    )


def refused(deal: HistoryDeal) -> HistoryDeal:
    """The same deck dealt after its first card was refused: dealt only, not played."""
    deck = deal.proof.deck.split(",")
    players, hand = deal.rules.players, deal.rules.hand
    leader = (deal.dealer + 1) % players
    table = 40 % (players * hand)
    first, stock = players * hand + 1, players * hand + table
    batches = [deck[1:first], *(deck[at : at + first - 1] for at in range(stock, 40, first - 1))]
    return structs.replace(
        deal,
        first_card=ShownCard(seat=leader, card=deck[0], kept=False),
        deals=[
            [batch[(seat - leader) % players :: players] for seat in range(players)]
            for batch in batches
        ],
        table=[deck[0], *deck[first:stock]],
        plays=[],
        count=None,
    )


def commitment(deal: HistoryDeal) -> str:
    """What the server showed before the deal."""
    salt, deck = bytes.fromhex(deal.proof.salt), deal.proof.deck.encode()
    return hashlib.sha256(salt + deck).hexdigest()

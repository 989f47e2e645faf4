"""The count of a deal as views, events and the history show it."""

from collections.abc import Sequence
from itertools import chain

from scopa_protocol import views
from scopa_server.rules.count import DealFacts, SideCount
from scopa_server.rules.match import Totals
from scopa_server.rules.record import Rules


def as_counted(
    rules: Rules,
    deal: int,
    facts: DealFacts,
    counts: Sequence[SideCount],
    totals: Totals,
    proof: views.Proof,
) -> views.Count:
    """A deal's count; `totals` are the match's after it."""
    left = facts.leftovers
    return views.Count(
        deal=deal,
        sides=[_side(rules, facts, side, count) for side, count in enumerate(counts)],
        totals=list(totals),
        leftovers=left and views.LeftoverCards(side=left[0] % rules.sides, cards=list(left[1])),
        proof=proof,
    )


def _side(rules: Rules, facts: DealFacts, side: int, count: SideCount) -> views.SideCount:
    return views.SideCount(
        cards=count.cards,
        coins=count.coins,
        primiera=count.primiera,
        scope=count.scope,
        points=dict(count.points),
        total=count.total,
        pile=list(chain(*facts.piles[side :: rules.sides])),
    )

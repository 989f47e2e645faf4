"""What a stand-in does when the table waits for its seat (rulebook, Cirulla's declarations)."""

from typing import Literal, TypeAlias, cast

from scopa_protocol.commands import Declare, FirstCard, Play
from scopa_protocol.views import View

from .choose import choose

Act: TypeAlias = FirstCard | Declare | Play


def act(view: View) -> Act:
    """Keep a first card, declare the best there is, or play. Raises ValueError out of turn."""
    if view.first_card is not None:
        return FirstCard(deal=view.deal, keep=True)
    if view.declarations:
        # Of a matta's names the first is the ace, which sweeps or else takes most easily.
        best = max(view.declarations, key=lambda offered: offered.points)
        kind = cast(Literal["low", "three", "both"], best.kind)
        return Declare(deal=view.deal, batch=view.batch, kind=kind, matta=best.matta)
    card, take = choose(view)
    return Play(deal=view.deal, turn=view.turn, card=card, take=take)

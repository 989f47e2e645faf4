"""Playing with nobody at the keyboard: the first thing that the view offers."""

from typing import Literal, cast

from scopa_protocol.cards import display_order
from scopa_protocol.commands import ClientCommand, Declare, FirstCard, Play, Ready, Start
from scopa_protocol.views import View

from .screens.people import my_cards


def next_command(view: View, *, starts: bool = True) -> ClientCommand | None:
    """What to send now, if anything; `starts`: whether a host begins a match by itself."""
    if view.you is None or view.paused_by is not None:
        return None
    if view.phase == "deal_over":
        return None if view.seats[view.you].ready else Ready(deal=view.deal)
    if view.phase == "playing":
        return _play(view)
    full = all(seat.kind in ("person", "bot") for seat in view.seats)
    return Start() if starts and full and view.host == view.you else None


def _play(view: View) -> ClientCommand | None:
    if view.first_card is not None:
        return FirstCard(deal=view.deal, keep=True)
    if view.to_play != view.you or view.options is None or not view.hand:
        return None
    if view.declarations:
        return _declare(view)
    hand = display_order(view.hand)
    card = next((card for card in hand if view.options.get(card)), hand[0])
    takes = view.options.get(card) or [[]]
    return Play(deal=view.deal, turn=view.turn, card=card, take=takes[0])


def _declare(view: View) -> Declare:
    """What scores most; the kinds that a later server may offer are not for this client."""
    best = max(view.declarations, key=lambda offer: offer.points)
    kind = cast(Literal["low", "three", "both"], best.kind)
    return Declare(deal=view.deal, batch=view.batch, kind=kind, matta=best.matta)


def stuck(view: View) -> bool:
    """Whether it can't go on, because the room tells nobody what a card may take."""
    return view.to_play is not None and view.to_play == my_cards(view) and view.options is None

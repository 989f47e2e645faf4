"""What a person is asked for now: as a short prompt, and as a sentence that says what to type."""

from scopa_protocol.views import View

from .faces import faces
from .people import by_holder, listed, my_cards, seat_name

DECLARE = "You may declare your hand before you play a card of it: type declare."
YOUR_TURN = "Your turn: type a card's number, or the card. help lists everything."


def prompt(view: View) -> tuple[str, str]:
    """The prompt and its sentence; the sentence is empty when nothing is asked."""
    if view.paused_by is not None:
        return "paused> ", ""
    if view.phase == "playing":
        return _playing(view)
    if view.phase == "deal_over":
        return _deal_over(view)
    if view.phase == "match_over":
        return "match over> ", ""
    return "lobby> ", ""


def _playing(view: View) -> tuple[str, str]:
    if view.first_card is not None:
        card = faces(view).short(view.first_card).text
        return "keep or refuse> ", f"Your first card would be {card}: type keep or refuse."
    if view.to_play is None:
        return "> ", ""
    if view.to_play == my_cards(view):
        return "your turn> ", f"{YOUR_TURN} {DECLARE}" if view.declarations else YOUR_TURN
    if view.declarations:
        return f"{seat_name(view, view.to_play)}'s turn> ", DECLARE
    return f"{seat_name(view, view.to_play)}'s turn> ", ""


def _deal_over(view: View) -> tuple[str, str]:
    if view.you is None:
        return "> ", ""
    if view.proposal is not None and view.you in view.proposal.waiting:
        ask = "Type agree or decline; the next deal drops what is proposed."
        return "agree or decline> ", ask
    if not view.seats[view.you].ready:
        return "Enter when ready> ", "Press Enter, or type ready, for the next deal."
    waiting = [
        seat.name or f"seat {seat.seat}"
        for seat in by_holder(view).seats
        if seat.kind == "person" and seat.online and not seat.away and not seat.ready
    ]
    return (f"waiting for {listed(waiting)}> " if waiting else "> "), ""


def rematch(view: View) -> str:
    """The offer of another match."""
    if view.you is None:
        return ""
    if view.you == view.host:
        return "A rematch? Type start, after any change of seats or rules you like."
    host = seat_name(view, view.host) if view.host is not None else "the host"
    return f"A rematch? {host} can start one. leave gives your seat up, quit keeps it."

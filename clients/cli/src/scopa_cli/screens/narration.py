"""What happened, told in sentences: one for each event that is worth telling."""

from collections.abc import Callable
from typing import Any, Final

from scopa_cli.lines import Line, Span, joined, line
from scopa_protocol import events as happened
from scopa_protocol.events import Event
from scopa_protocol.views import RecentPlay, View

from .faces import Faces, faces
from .people import by_holder, does, my_cards, seat_name, side_does, who, whom

Teller = Callable[[Any, View], Line | None]


def tell(event: Event, view: View) -> Line | None:
    """An event in a sentence; None for one that the view shows well enough."""
    teller = TELLERS.get(type(event))
    return teller(event, view) if teller else None


def _played(event: happened.Played, view: View) -> Line:
    shown = Faces(view.rules.deck)
    verb = does(view, event.seat, "play", "plays")
    play = RecentPlay(
        seat=event.seat,
        card=event.card,
        take=event.take,
        scopa=event.scopa,
        to_pile=event.to_pile,
        auto=event.auto,
    )
    bot = 0 <= event.seat < len(view.seats) and view.seats[event.seat].kind == "bot"
    auto = " (played by the server)" if event.auto and not bot else ""
    return line(verb, " ", _effect(shown, play, mine=event.seat == my_cards(view)), auto)


def _effect(shown: Faces, play: RecentPlay, *, mine: bool) -> Line:
    card = shown.short(play.card)
    if play.take:
        taken = line(card, " and take " if mine else " and takes ", shown.set(play.take))
    elif play.to_pile:
        taken = line(card, ", which takes itself")
    else:
        taken = line(card, " to the table")
    return line(taken, Span(": scopa!", "bold") if play.scopa else ".")


def _dealt(event: happened.Dealt, view: View) -> Line:
    cards = max(event.cards, default=0)
    if event.batch <= 1:
        return line(
            f"Deal {event.deal}: ",
            does(view, event.dealer, "deal", "deals"),
            f" {cards} cards each.",
        )
    return line(f"{cards} more cards each.")


def _seat_taken(event: happened.SeatTaken, view: View) -> Line:
    bot = " (bot)" if event.kind == "bot" else ""
    reserved = 0 <= event.seat < len(view.seats) and view.seats[event.seat].name != event.name
    when = " from the next deal" if reserved else ""
    return line(Span(event.name, "bold"), f"{bot} takes seat {event.seat}{when}.")


def _dealer_drawn(event: happened.DealerDrawn, view: View) -> Line:
    shown = faces(view)
    draws = [line(who(view, seat), " ", shown.short(card)) for seat, card in event.draws]
    return line(
        "Drawn for the deal: ",
        joined(draws, ", "),
        ". ",
        does(view, event.dealer, "deal", "deals"),
        " first.",
    )


def _deal_voided(event: happened.DealVoided, view: View) -> Line:
    return line(
        f"Deal {event.deal} is void, the table was ",
        faces(view).set(event.table),
        ": the cards are dealt again.",
    )


def _opening_swept(event: happened.OpeningSwept, view: View) -> Line:
    scope = "scopa!" if event.scope == 1 else f"{event.scope} scope!"
    return line(
        side_does(view, event.side, "sweep", "sweeps"),
        " the opening table ",
        faces(view).set(event.cards),
        ": ",
        Span(scope, "bold"),
    )


def _declared(event: happened.Declared, view: View) -> Line:
    matta = f", 7C as {event.matta}" if event.matta is not None else ""
    return line(
        does(view, event.seat, "declare", "declares"),
        f" {event.kind}{matta}: ",
        faces(view).set(event.cards),
        f", {event.points} points.",
    )


def _leftovers(event: happened.Leftovers, view: View) -> Line:
    return line(
        side_does(view, event.side, "take", "takes"),
        " what is left on the table: ",
        faces(view).set(event.cards),
        ".",
    )


def _proposed(event: happened.RulesProposed, view: View) -> Line | None:
    if view.proposal is not None and view.proposal.id == event.proposal.id:
        return None
    # It was answered or dropped before anybody saw it.
    by = does(by_holder(view), event.proposal.by, "proposed", "proposed")
    return line(by, " to count by other rules.")


def _rescored(event: happened.Rescored, _: View) -> Line:
    return line(f"The match was counted again: {' - '.join(map(str, event.totals))}.")


def _presence(event: happened.Presence, view: View) -> Line | None:
    are = does(by_holder(view), event.seat, "are", "is")
    if event.online:
        # In a lobby it follows at once on taking the seat, which was told.
        return None if view.phase == "lobby" else line(are, " connected.")
    return line(are, " not connected any more.")


def _back(event: happened.Back, view: View) -> Line:
    if any(seat.seat == event.seat and seat.reserved for seat in view.seats):
        return line(does(by_holder(view), event.seat, "are", "is"), " back.")
    return line(does(view, event.seat, "play", "plays"), " again.")


def _stood_in(event: happened.StoodIn, view: View) -> Line:
    again = " Type any card to play yourself again." if event.seat == my_cards(view) else ""
    return line(f"The server plays for {whom(view, event.seat)} for now.{again}")


def said(name: str, text: str) -> Line:
    """Something that was said."""
    return line(Span(name, "bold"), f": {text}")


def _plain(verb: str, verbs: str, rest: str) -> Teller:
    """A sentence that is who plays a seat, a verb and a rest."""

    def teller(event: Any, view: View) -> Line:
        return line(does(view, event.seat, verb, verbs), rest)

    return teller


def _by_host(rest: str) -> Teller:
    """A sentence about what the host alone may do."""

    def teller(_: Any, view: View) -> Line:
        mine = view.you is not None and view.you == view.host
        return line("You" if mine else "The host", rest)

    return teller


def _personal(verb: str, verbs: str, rest: str) -> Teller:
    """A sentence that is whom a seat belongs to, a verb and a rest."""
    teller = _plain(verb, verbs, rest)
    return lambda event, view: teller(event, by_holder(view))


TELLERS: Final[dict[type[Event], Teller]] = {
    happened.SeatTaken: _seat_taken,
    happened.SeatLeft: lambda event, _: line(
        Span(event.name, "bold"), f" is no longer on seat {event.seat}."
    ),
    happened.Arranged: lambda _, view: line(
        "New seats: ",
        ", ".join(f"{seat.seat} {seat.name or seat.kind}" for seat in view.seats),
        ".",
    ),
    happened.Presence: _presence,
    happened.Away: _personal("have", "has", " been away for a while."),
    happened.Back: _back,
    happened.WatcherCame: lambda event, _: line(Span(event.name, "bold"), " watches."),
    happened.WatcherLeft: lambda event, _: line(Span(event.name, "bold"), " stopped watching."),
    happened.HostChanged: _personal("are", "is", " the host now."),
    happened.Configured: _by_host(" changed the rules or settings."),
    happened.MatchStarted: lambda event, _: line(Span(f"Match {event.match} begins.", "bold")),
    happened.DealerDrawn: _dealer_drawn,
    happened.DealVoided: _deal_voided,
    happened.Dealt: _dealt,
    happened.OpeningSwept: _opening_swept,
    happened.FirstCardOffered: lambda event, view: line(
        f"The first card is offered to {whom(view, event.seat)}."
    ),
    happened.FirstCardKept: _plain("keep", "keeps", " the first card."),
    happened.FirstCardLaid: lambda event, view: line(
        does(view, event.seat, "refuse", "refuses"),
        " the first card, ",
        faces(view).short(event.card),
        ": it lies on the table.",
    ),
    happened.Declared: _declared,
    happened.Played: _played,
    happened.Leftovers: _leftovers,
    happened.MatchEnded: _by_host(" ended the match."),
    happened.RulesProposed: _proposed,
    happened.ProposalDropped: lambda _event, _view: line("The proposal came to nothing."),
    happened.Rescored: _rescored,
    happened.Paused: _personal("pause", "pauses", " the game. unpause: go on."),
    happened.Unpaused: lambda event, view: line(
        "The game goes on, says ", seat_name(by_holder(view), event.seat), "."
    ),
    happened.Said: lambda event, _: said(event.name, event.text),
    happened.StoodIn: _stood_in,
}

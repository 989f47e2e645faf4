"""What people hear of an event, built up from what all of them may know. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from scopa_protocol import events as told
from scopa_server.rules import deal as deals

from . import events as e
from .apply import apply, stored
from .decide.dealing import proof
from .project import wire_proposal, wire_rules
from .state import Room

Tell: TypeAlias = Callable[[Any, Room, Room], told.RoomEvent | None]


def tell(event: e.LogEvent, before: Room, after: Room) -> told.RoomEvent | None:
    """The public form of an event, from the room before and after it; None: nothing to hear."""
    say = _TELL.get(type(event))
    return say(event, before, after) if say else None


def _seat_taken(event: e.SeatTaken, before: Room, after: Room) -> told.RoomEvent:
    return told.SeatTaken(seat=event.seat, name=event.name, kind=event.kind)


def _seat_left(event: e.SeatLeft, before: Room, after: Room) -> told.RoomEvent:
    return told.SeatLeft(seat=event.seat, name=event.name)


def _arranged(event: e.Arranged, before: Room, after: Room) -> told.RoomEvent:
    return told.Arranged()


def _away(event: e.Away, before: Room, after: Room) -> told.RoomEvent:
    return told.Away(seat=event.seat)


def _back(event: e.Back, before: Room, after: Room) -> told.RoomEvent:
    return told.Back(seat=event.seat)


def _stood_in(event: e.StoodIn, before: Room, after: Room) -> told.RoomEvent:
    return told.StoodIn(seat=event.seat)


def _host_changed(event: e.HostChanged, before: Room, after: Room) -> told.RoomEvent | None:
    return None if event.seat is None else told.HostChanged(seat=event.seat)


def _configured(event: e.Configured, before: Room, after: Room) -> told.RoomEvent:
    return told.Configured()


def _match_started(event: e.MatchStarted, before: Room, after: Room) -> told.RoomEvent:
    return told.MatchStarted(match=event.match)


def _dealer_drawn(event: e.DealerDrawn, before: Room, after: Room) -> told.RoomEvent:
    return told.DealerDrawn(draws=list(event.draws), dealer=event.dealer)


def _deal_voided(event: e.DealVoided, before: Room, after: Room) -> told.RoomEvent:
    return void_deal(event, before)


def void_deal(event: e.DealVoided, before: Room) -> told.DealVoided:
    """A void deal, shown whole."""
    # With its first card offered, its deck was in use already.
    shuffle = before.next_shuffle or before.shuffle
    assert shuffle is not None, "a void deal had a deck"
    laid = None if before.offered is None else before.offered.laid
    void = deals.begin(before.rules, event.dealer, shuffle.deck, laid=laid)
    return told.DealVoided(
        deal=event.deal,
        table=list(void.table),
        hands=[list(hand) for hand in void.hands],
        proof=proof(shuffle),
    )


def _dealt(event: e.Dealt, before: Room, after: Room) -> told.RoomEvent:
    hands = after.deal.hands if after.deal else ()
    return told.Dealt(
        deal=event.deal, batch=event.batch, dealer=event.dealer, cards=[len(h) for h in hands]
    )


def _first_card_offered(event: e.FirstCardOffered, before: Room, after: Room) -> told.RoomEvent:
    seat = deals.leader(after.rules, event.dealer)
    return told.FirstCardOffered(deal=event.deal, dealer=event.dealer, seat=seat)


def _first_card_kept(event: e.FirstCardKept, before: Room, after: Room) -> told.RoomEvent:
    return told.FirstCardKept(seat=event.seat)


def _first_card_laid(event: e.FirstCardLaid, before: Room, after: Room) -> told.RoomEvent:
    return told.FirstCardLaid(seat=event.seat, card=event.card)


def _opening_swept(event: e.OpeningSwept, before: Room, after: Room) -> told.RoomEvent:
    side = event.seat % before.rules.sides
    return told.OpeningSwept(side=side, cards=list(event.cards), scope=event.scope)


def _declared(event: e.Declared, before: Room, after: Room) -> told.RoomEvent:
    declared = event.declared
    return told.Declared(
        seat=declared.seat,
        kind=declared.kind,
        cards=list(declared.cards),
        matta=declared.matta,
        points=declared.points,
    )


def _played(event: e.Played, before: Room, after: Room) -> told.RoomEvent:
    play = event.play
    return told.Played(
        seat=play.seat,
        card=play.card,
        take=list(play.take),
        scopa=play.scopa,
        to_pile=play.to_pile,
        auto=play.auto,
    )


def _leftovers(event: e.Leftovers, before: Room, after: Room) -> told.RoomEvent:
    return told.Leftovers(side=event.seat % before.rules.sides, cards=list(event.cards))


def _deal_counted(event: e.DealCounted, before: Room, after: Room) -> told.RoomEvent:
    return told.DealCounted(count=event.count)


def _match_won(event: e.MatchWon, before: Room, after: Room) -> told.RoomEvent:
    return told.MatchWon(side=event.side, totals=list(event.totals))


def _match_ended(event: e.MatchEnded, before: Room, after: Room) -> told.RoomEvent:
    return told.MatchEnded()


def _proposed(event: e.Proposed, before: Room, after: Room) -> told.RoomEvent:
    assert after.proposed is not None, "a proposal was made"
    return told.RulesProposed(proposal=wire_proposal(after.proposed))


def _proposal_dropped(event: e.ProposalDropped, before: Room, after: Room) -> told.RoomEvent:
    return told.ProposalDropped()


def _rescored(event: e.Rescored, before: Room, after: Room) -> told.RoomEvent:
    return told.Rescored(rules=wire_rules(after.rules), totals=list(after.totals))


def _paused(event: e.Paused, before: Room, after: Room) -> told.RoomEvent:
    return told.Paused(seat=event.seat)


def _unpaused(event: e.Unpaused, before: Room, after: Room) -> told.RoomEvent:
    return told.Unpaused(seat=event.seat)


def _said(event: e.Said, before: Room, after: Room) -> told.RoomEvent:
    return told.Said(name=event.name, seat=event.seat, text=event.text)


_TELL: Final[Mapping[type[e.Event], Tell]] = cast(
    Mapping[type[e.Event], Tell],
    {
        e.SeatTaken: _seat_taken,
        e.SeatLeft: _seat_left,
        e.Arranged: _arranged,
        e.Away: _away,
        e.Back: _back,
        e.StoodIn: _stood_in,
        e.HostChanged: _host_changed,
        e.Configured: _configured,
        e.MatchStarted: _match_started,
        e.DealerDrawn: _dealer_drawn,
        e.DealVoided: _deal_voided,
        e.Dealt: _dealt,
        e.FirstCardOffered: _first_card_offered,
        e.FirstCardKept: _first_card_kept,
        e.FirstCardLaid: _first_card_laid,
        e.OpeningSwept: _opening_swept,
        e.Declared: _declared,
        e.Played: _played,
        e.Leftovers: _leftovers,
        e.DealCounted: _deal_counted,
        e.MatchWon: _match_won,
        e.MatchEnded: _match_ended,
        e.Proposed: _proposed,
        e.ProposalDropped: _proposal_dropped,
        e.Rescored: _rescored,
        e.Paused: _paused,
        e.Unpaused: _unpaused,
        e.Said: _said,
    },
)
UNHEARD: Final = frozenset({e.Opened, e.Shuffled, e.Readied, e.Agreed})
"""Events that nobody hears of: the view shows what came of them."""


def advance_telling(
    room: Room, number: int, at: int, events: e.Events
) -> tuple[Room, list[told.RoomEvent]]:
    """The room after commit `number`, stored at `at` (ms), and what people hear of it."""
    heard: list[told.RoomEvent] = []
    for event in events:
        after = apply(room, event, at)
        public = tell(event, room, after)
        if public is not None:
            heard.append(public)
        room = after
    return stored(room, number, at), heard

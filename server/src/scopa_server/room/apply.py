"""One event later: `apply(room, event, at)` is the room after it. Pure."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from msgspec.structs import replace

from scopa_protocol.views import MatchResult
from scopa_server.rules import deal as deals
from scopa_server.rules import declare, opening
from scopa_server.rules.count import facts
from scopa_server.rules.record import build

from . import events as e
from . import rescoring
from .clock import restart_clock
from .machine import phase_after
from .state import (
    Finished,
    FirstCard,
    Holder,
    PastDeal,
    Room,
    Saying,
    Seat,
    SeatKind,
    Value,
)

TALK_KEPT: Final = 60
"""Sayings that a room remembers, to show the last ones and to know a key again."""


MATCHES_KEPT: Final = 100
"""Finished matches that a room remembers: every view lists them."""


def advance(room: Room, number: int, at: int, events: e.Events) -> Room:
    """The room after commit `number`, stored at `at` (ms)."""
    for event in events:
        room = apply(room, event, at)
    return stored(room, number, at)


def stored(room: Room, number: int, at: int) -> Room:
    """The room as commit `number`, stored at `at` (ms), leaves it."""
    return room if room.seq == number and room.at == at else replace(room, seq=number, at=at)


def apply(room: Room, event: e.LogEvent, at: int) -> Room:
    """The room after one event of a commit stored at `at` (ms)."""
    after = _APPLY[type(event)](room, event, at)
    phase = phase_after(room.phase, event)
    return after if phase == after.phase else replace(after, phase=phase)


def _opened(room: Room, event: e.Opened, at: int) -> Room:
    rules = build(event.variant, event.overrides)
    return replace(
        room,
        overrides={"variant": event.variant, **event.overrides},
        rules=rules,
        settings=event.settings,
        passcode=event.passcode,
        seats=(Seat(),) * rules.players,
        totals=(0,) * rules.sides,
        clock_from=at,
    )


def _seat(room: Room, number: int, seat: Seat) -> Room:
    seats = (*room.seats[:number], seat, *room.seats[number + 1 :])
    return replace(room, seats=seats)


def _seat_taken(room: Room, event: e.SeatTaken, at: int) -> Room:
    if event.reserved:
        holder = Holder(name=event.name, token=event.token or "")
        return _reserve(room, event.seat, holder)
    taken = Seat(kind=event.kind, name=event.name, token=event.token, level=event.level)
    return _seat(room, event.seat, taken)


def _seat_left(room: Room, event: e.SeatLeft, at: int) -> Room:
    seat = room.seats[event.seat]
    room = rescoring.without_answer(room, event.seat)
    if event.reserved:
        return _reserve(room, event.seat, None)
    kind: SeatKind = "vacant" if room.in_match else "empty"
    if seat.reserved is not None:
        # Being away or ready is the newcomer's.
        gone = replace(seat, kind=kind, name=None, token=None, level=None, stand_in=False)
        return _seat(room, event.seat, gone)
    return _unready(_seat(room, event.seat, Seat(kind=kind)), event.seat)


def _reserve(room: Room, number: int, holder: Holder | None) -> Room:
    seat = replace(room.seats[number], reserved=holder, away=False, ready=False)
    return _unready(_seat(room, number, seat), number)


def _unready(room: Room, number: int) -> Room:
    """Who comes next to a seat has not seen the count that its last person saw."""
    past = room.past
    if past is None or number not in past.ready:
        return room
    return replace(room, past=replace(past, ready=past.ready - {number}))


def _arranged(room: Room, event: e.Arranged, at: int) -> Room:
    seats = tuple(Seat() if old is None else room.seats[old] for old in event.order)
    host = None if room.host is None else event.order.index(room.host)
    return replace(room, seats=seats, host=host)


def _away(room: Room, event: e.Away, at: int) -> Room:
    return _seat(room, event.seat, replace(room.seats[event.seat], away=True, away_at=at))


def _back(room: Room, event: e.Back, at: int) -> Room:
    seat = room.seats[event.seat]
    after = _seat(room, event.seat, replace(seat, away=False, stand_in=False))
    # A clock that ran out must not run out again under the hands of who comes back.
    return restart_clock(after, at) if seat.stand_in and room.awaited == event.seat else after


def _stood_in(room: Room, event: e.StoodIn, at: int) -> Room:
    return _seat(room, event.seat, replace(room.seats[event.seat], stand_in=True))


def _host_changed(room: Room, event: e.HostChanged, at: int) -> Room:
    return replace(room, host=event.seat)


def _configured(room: Room, event: e.Configured, at: int) -> Room:
    after = replace(room, settings=event.settings, passcode=event.passcode)
    if _clocks(room) != _clocks(after) and room.proposed is None:
        # Time that was used under the old limit must not end a turn under a shorter one.
        after = restart_clock(after, at)
    overrides = {"variant": event.variant, **event.overrides}
    return after if overrides == room.overrides else _new_rules(after, event.variant, overrides)


def _clocks(room: Room) -> tuple[int, int, int]:
    settings = room.settings
    return settings.turn_seconds, settings.absent_seconds, settings.next_deal_seconds


def _new_rules(room: Room, variant: str, overrides: dict[str, Any]) -> Room:
    """Other rules; a finished match stays to be seen unless other seats or sides play now."""
    rules = build(variant, {name: value for name, value in overrides.items() if name != "variant"})
    after = replace(room, overrides=overrides, rules=rules)
    if (rules.players, rules.sides) == (room.rules.players, room.rules.sides):
        return after
    seats = (room.seats + (Seat(),) * rules.players)[: rules.players]
    return replace(
        after,
        seats=seats,
        deal=None,
        dealer=None,
        winner=None,
        finished=(),
        totals=(0,) * rules.sides,
    )


def _match_started(room: Room, event: e.MatchStarted, at: int) -> Room:
    return replace(
        room,
        match=event.match,
        deal=None,
        finished=(),
        totals=(0,) * room.rules.sides,
        winner=None,
        seats=tuple(replace(seat, ready=False, stand_in=False) for seat in room.seats),
    )


def _dealer_drawn(room: Room, event: e.DealerDrawn, at: int) -> Room:
    return replace(room, dealer=event.dealer)


def _shuffled(room: Room, event: e.Shuffled, at: int) -> Room:
    return replace(room, next_shuffle=event.shuffle)


def _deal_voided(room: Room, event: e.DealVoided, at: int) -> Room:
    return replace(room, deal_number=event.deal, dealer=event.dealer, next_shuffle=None)


def _dealt(room: Room, event: e.Dealt, at: int) -> Room:
    if event.batch > 1 and room.deal is not None:
        return restart_clock(replace(room, deal=deals.next_batch(room.deal)), at)
    laid = None
    if room.offered is None:
        room = _new_deal(room, event)
    else:
        laid = room.offered.laid
    assert room.shuffle is not None, "a deal needs a deck"
    dealt = deals.begin(room.rules, event.dealer, room.shuffle.deck, laid=laid)
    return restart_clock(replace(room, deal=dealt), at)


def _new_deal(room: Room, event: e.Dealt | e.FirstCardOffered) -> Room:
    """The next deck comes into use, and who waited for cards gets the seat."""
    return replace(
        room,
        deal_number=event.deal,
        dealer=event.dealer,
        shuffle=room.next_shuffle,
        next_shuffle=None,
        seats=tuple(map(_for_new_deal, room.seats)),
    )


def _for_new_deal(seat: Seat) -> Seat:
    """A reserved seat becomes its person's."""
    if seat.reserved is None:
        return replace(seat, ready=False)
    holder = seat.reserved
    return Seat(kind="person", name=holder.name, token=holder.token, away=seat.away)


def _first_card_offered(room: Room, event: e.FirstCardOffered, at: int) -> Room:
    room = _new_deal(room, event)
    assert room.shuffle is not None, "a deal needs a deck"
    offered = opening.offer(room.rules, event.dealer, room.shuffle.deck)
    return restart_clock(replace(room, deal=offered), at)


def _first_card_kept(room: Room, event: e.FirstCardKept, at: int) -> Room:
    return _first_card_chosen(room, event.seat, keep=True)


def _first_card_laid(room: Room, event: e.FirstCardLaid, at: int) -> Room:
    return _first_card_chosen(room, event.seat, keep=False)


def _first_card_chosen(room: Room, seat: int, *, keep: bool) -> Room:
    assert room.deal is not None, "a first card is a deal's"
    chosen = FirstCard(deal=room.deal_number, seat=seat, keep=keep)
    # As long as plays are remembered, and those of void deals in between.
    oldest = 0 if room.past is None else room.past.deal
    kept = [choice for choice in room.first_cards if choice.deal >= oldest]
    deal = opening.choose(room.deal, laid=not keep)
    return replace(room, deal=deal, first_cards=(*kept, chosen))


def _opening_swept(room: Room, event: e.OpeningSwept, at: int) -> Room:
    assert room.deal is not None, "an opening table is a deal's"
    return replace(room, deal=opening.sweep(room.deal, event.scope))


def _declared(room: Room, event: e.Declared, at: int) -> Room:
    assert room.deal is not None, "a hand is declared in a deal"
    after = replace(room, deal=declare.declare(room.deal, event.declared))
    seat = event.declared.seat
    # The server thinks anew before it plays; a person's time goes on.
    return restart_clock(after, at) if room.seats[seat].served and room.to_play == seat else after


def _played(room: Room, event: e.Played, at: int) -> Room:
    assert room.deal is not None, "a card is played in a deal"
    deal = deals.play(room.deal, event.play)
    # Mostly all of its commit: with that one's number and time, the room is made anew only once.
    return replace(room, seq=room.seq + 1, at=at, deal=deal, clock_from=at, clock_used=0)


def _leftovers(room: Room, event: e.Leftovers, at: int) -> Room:
    assert room.deal is not None, "leftovers come from a deal"
    return replace(room, deal=deals.finish(room.deal))


def _deal_counted(room: Room, event: e.DealCounted, at: int) -> Room:
    assert room.deal is not None, "only a deal is counted"
    points = tuple(side.total for side in event.count.sides)
    counted = Finished(deal=room.deal_number, facts=facts(room.deal), points=points)
    after = replace(
        room,
        count=event.count,
        totals=tuple(event.count.totals),
        finished=(*room.finished, counted),
        past=_past(room, room.deal),
    )
    return restart_clock(after, at)


def _past(room: Room, deal: deals.Deal) -> PastDeal:
    return PastDeal(deal=room.deal_number, plays=deal.plays, declared=deal.declared)


def _match_won(room: Room, event: e.MatchWon, at: int) -> Room:
    result = MatchResult(winner=event.side, totals=list(event.totals), abandoned=False)
    return _match_over(replace(room, winner=event.side, matches=_with_match(room, result)))


def _match_ended(room: Room, event: e.MatchEnded, at: int) -> Room:
    result = MatchResult(winner=None, totals=list(room.totals), abandoned=True)
    past = room.past
    if room.phase == "playing" and room.deal is not None:
        past = _past(room, room.deal)
    ended = replace(room, deal=None, count=None, past=past, matches=_with_match(room, result))
    return _match_over(ended)


def _with_match(room: Room, result: MatchResult) -> tuple[MatchResult, ...]:
    return (*room.matches, result)[-MATCHES_KEPT:]


def _match_over(room: Room) -> Room:
    return replace(
        room,
        paused_by=None,
        next_shuffle=None,
        seats=tuple(map(_between_matches, room.seats)),
    )


def _between_matches(seat: Seat) -> Seat:
    """Nobody waits for a deal any more, and a vacant seat is simply empty."""
    if seat.reserved is not None:
        return _for_new_deal(seat)
    if seat.kind == "vacant":
        return Seat()
    return replace(seat, stand_in=False, ready=False)


def _readied(room: Room, event: e.Readied, at: int) -> Room:
    seats, past = list(room.seats), room.past
    seats[event.seat] = replace(seats[event.seat], ready=True)
    if past is not None and past.deal == event.deal:
        past = replace(past, ready=past.ready | {event.seat})
    return replace(room, seats=tuple(seats), past=past)


def _paused(room: Room, event: e.Paused, at: int) -> Room:
    # Only the server knows for how long nobody was there.
    counted = room.clock_used + max(0, at - room.clock_from)
    used = counted if event.used is None else event.used
    return replace(room, paused_by=event.seat, clock_used=used)


def _unpaused(room: Room, event: e.Unpaused, at: int) -> Room:
    return replace(room, paused_by=None, clock_from=at)


def _said(room: Room, event: e.Said, at: int) -> Room:
    saying = Saying(name=event.name, seat=event.seat, text=event.text, key=event.key)
    return replace(room, talk=(*room.talk, saying)[-TALK_KEPT:])


_Step: TypeAlias = Callable[[Room, Any, int], Room]

_APPLY: Final[dict[type[Value] | type[e.Event], _Step]] = cast(
    dict[Any, _Step],
    {
        e.Opened: _opened,
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
        e.Shuffled: _shuffled,
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
        e.Readied: _readied,
        e.Proposed: rescoring.proposed,
        e.Agreed: rescoring.agreed,
        e.ProposalDropped: rescoring.dropped,
        e.Rescored: rescoring.rescored,
        e.Paused: _paused,
        e.Unpaused: _unpaused,
        e.Said: _said,
    },
)

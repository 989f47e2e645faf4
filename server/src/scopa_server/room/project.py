"""The view of one seat, or of a watcher, built up from what it may know. Pure.

Nothing here starts from the whole and takes away: another seat's hand, the stock's order, the
salt are never touched on the way to a view (rulebook, What a seat may know).
"""

import hashlib
from functools import lru_cache
from operator import attrgetter
from typing import Final

import msgspec
from msgspec.structs import replace

from scopa_protocol import rules as wire
from scopa_protocol import views
from scopa_protocol.cards import display_order
from scopa_protocol.views import (
    Clock,
    Count,
    Declaration,
    LastingView,
    Matta,
    OwnView,
    PassingView,
    RecentPlay,
    SeatView,
    SideView,
    View,
    whole,
)
from scopa_server.rules import captures
from scopa_server.rules import declare as declaring
from scopa_server.rules.deal import Deal, Play, is_scopa
from scopa_server.rules.record import Rules

from .decide.playing import OPTIONS_SHOWN
from .state import Proposal, Room, Seat, Shuffle


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What a view shows beside the log's state: who is there, and the clock."""

    log: str
    online: frozenset[int] = frozenset()
    watchers: tuple[str, ...] = ()
    clock: Clock | None = None


def project(room: Room, viewer: int | None, scene: Scene) -> View:
    """What the person at seat `viewer` sees of a room; None: a watcher."""
    return whole(lasting(room, scene), passing(room, scene), own(room, viewer))


def project_for_server(room: Room, seat: int, scene: Scene) -> View:
    """What a stand-in sees: what the seat it plays would, with the options listed."""
    own_view = _with_hand(room, seat, hints=True)
    return whole(lasting(room, scene), passing(room, scene), own_view)


def own(room: Room, viewer: int | None) -> OwnView:
    """What its viewer alone may see of a room; None: a watcher."""
    if viewer is None:
        return _WATCHERS_OWN
    if room.seats[viewer].reserved is not None:
        return OwnView(you=viewer, hand=[])
    return _with_hand(room, viewer, hints=room.settings.hints != "off")


_WATCHERS_OWN: Final = OwnView()


def _with_hand(room: Room, seat: int, *, hints: bool) -> OwnView:
    deal, rules = room.deal, room.rules
    if deal is None:
        return OwnView(you=seat, hand=[])
    plays = hints and room.to_play == seat
    options, cut = _options(rules, deal, seat) if plays else (None, False)
    return OwnView(
        you=seat,
        hand=list(deal.hands[seat]),
        options=options,
        options_cut=cut,
        declarations=_declarations(deal, seat) if rules.declarations else [],
        first_card=_first_card(room, seat) if rules.first_card_choice else None,
    )


def lasting(room: Room, scene: Scene) -> LastingView:
    """What everybody may see of a room that stays while cards are played."""
    return LastingView(
        room=room.code,
        log=scene.log,
        phase=room.phase,
        paused_by=room.paused_by,
        passcode=room.passcode is not None,
        rules=wire_rules(room.rules),
        settings=room.settings,
        host=room.host,
        watchers=list(scene.watchers),
        match=room.match,
        deal=room.deal_number,
        batch=room.deal.batch if room.deal else 0,
        dealer=room.dealer,
        deals=[list(finished.points) for finished in room.finished],
        count=room.count,
        matches=list(room.matches),
        winner=room.winner,
        proposal=wire_proposal(room.proposed) if room.proposed else None,
        commitment=_commitment(room),
    )


def lasting_hangs_on(room: Room, scene: Scene) -> tuple[object, ...]:
    """What that part of a room's views is made of: while this is equal, so is that."""
    deal = room.deal
    return scene.log, scene.watchers, deal.batch if deal else 0, _lasting_fields(room)


_lasting_fields: Final = attrgetter(
    "code",
    "phase",
    "paused_by",
    "passcode",
    "rules",
    "settings",
    "host",
    "match",
    "deal_number",
    "dealer",
    "finished",
    "count",
    "matches",
    "winner",
    "proposal",
    "shuffle",
    "next_shuffle",
)


class Seen(msgspec.Struct, frozen=True, gc=False):
    """The seats and sides of a room as everybody sees them."""

    online: frozenset[int]
    seats: list[SeatView]
    sides: list[SideView]


def see(room: Room, scene: Scene) -> Seen:
    """The seats and sides of a room as everybody sees them."""
    return Seen(scene.online, seats(room, scene.online), _sides(room))


def card_between(before: Room, after: Room) -> Play | None:
    """The card after which a room is as it is, if nothing else happened that hands hang on.

    Views of the room then differ in the seat that played it, in the sides if it took something,
    and in the own parts of that seat and of the one to play; besides what every card changes.
    """
    was, deal = before.deal, after.deal
    if (
        deal is not None
        and was is not None
        and len(deal.plays) == len(was.plays) + 1
        and deal.batch == was.batch
        and deal.declared is was.declared
        and after.deal_number == before.deal_number
        and after.phase == before.phase
        and after.seats is before.seats
        and after.rules is before.rules
    ):
        return deal.plays[-1]
    return None


def see_after(seen: Seen, card: Play, room: Room, scene: Scene) -> Seen:
    """The same as `see`, from what was seen before the one card that was played since."""
    deal, number = room.deal, card.seat
    if deal is None or scene.online != seen.online:
        return see(room, scene)
    there = seen.seats.copy()
    revealed = _revealed(deal, number) if deal.declared else None
    there[number] = replace(there[number], cards=len(deal.hands[number]), revealed=revealed)
    return Seen(seen.online, there, _sides(room) if card.to_pile else seen.sides)


def passing(room: Room, scene: Scene, seen: Seen | None = None) -> PassingView:
    """What everybody may see of a room that every card changes; `seen`: what `see` gives."""
    deal = room.deal
    seen = see(room, scene) if seen is None else seen
    return PassingView(
        seq=room.seq,
        seats=seen.seats,
        sides=seen.sides,
        turn=deal.turn if deal else 0,
        to_play=room.to_play,
        clock=scene.clock,
        table=list(deal.table) if deal else [],
        stock=deal.stock if deal else 0,
        matta=_matta(deal),
        recent=_recent(deal),
        gone=_gone(room),
    )


@lru_cache(maxsize=256)
def wire_rules(rules: Rules) -> wire.Rules:
    """A record of rules as views show it."""
    return msgspec.convert(rules, wire.Rules, from_attributes=True)


def wire_proposal(proposal: Proposal) -> views.Proposal:
    """An open proposal as everybody sees it."""
    return views.Proposal(
        id=proposal.id,
        by=proposal.by,
        rules=proposal.rules,
        agreed=list(proposal.agreed),
        waiting=list(proposal.waiting),
        totals=list(proposal.totals),
    )


def seats(room: Room, online: frozenset[int]) -> list[SeatView]:
    """All seats, as anybody may see them."""
    return [_seat(room, number, seat, number in online) for number, seat in enumerate(room.seats)]


def _seat(room: Room, number: int, seat: Seat, online: bool) -> SeatView:
    deal = room.deal
    return SeatView(
        seat=number,
        name=seat.name,
        kind=seat.kind,
        online=online or seat.kind == "bot",
        away=seat.away,
        stand_in=seat.stand_in or seat.kind == "vacant",
        reserved=seat.reserved.name if seat.reserved else None,
        side=number % room.rules.sides,
        cards=len(deal.hands[number]) if deal else 0,
        ready=seat.ready,
        revealed=_revealed(deal, number) if deal and deal.declared else None,
    )


def _revealed(deal: Deal, seat: int) -> list[str] | None:
    return list(declaring.revealed(deal, seat)) or None


def _matta(deal: Deal | None) -> Matta | None:
    named = deal.matta if deal else None
    return None if named is None else Matta(value=named.value, seat=named.seat)


def _declarations(deal: Deal, seat: int) -> list[Declaration]:
    return [
        Declaration(kind=declared.kind, matta=declared.matta, points=declared.points)
        for declared in declaring.may_declare(deal, seat)
    ]


def _first_card(room: Room, seat: int) -> str | None:
    return room.offered.deck[0] if room.offered and room.asked == seat else None


def _sides(room: Room) -> list[SideView]:
    deal = room.deal
    # Once counted, leftovers may count as well.
    counted = room.count if deal and room.phase in {"deal_over", "match_over"} else None
    return [_side(room, deal, counted, side) for side in range(room.rules.sides)]


def _side(room: Room, deal: Deal | None, counted: Count | None, side: int) -> SideView:
    swept, opened = _swept(deal, side) if deal and deal.sweeps else ([], 0)
    return SideView(
        side=side,
        score=room.totals[side],
        captured=sum(map(len, deal.piles[side :: deal.rules.sides])) if deal else 0,
        scope=counted.sides[side].scope if counted else len(swept) + opened,
        scope_cards=swept,
    )


def _swept(deal: Deal, side: int) -> tuple[list[str], int]:
    """The cards of a side's scope, and how many more it has of an opening table.

    Which count may have changed since they were played.
    """
    rules = deal.rules
    sweeps = [sweep for sweep in deal.sweeps if sweep.seat % rules.sides == side]
    cards = [sweep.card for sweep in sweeps if sweep.card is not None and is_scopa(rules, sweep)]
    return cards, sum(sweep.kind == "opening" for sweep in sweeps)


def _options(rules: Rules, deal: Deal, seat: int) -> tuple[dict[str, list[tuple[str, ...]]], bool]:
    """For each card of the seat to play every set it may take, and whether some were cut."""
    listed = captures.listing(
        rules, deal.hands[seat], deal.table, matta=deal.named, limit=OPTIONS_SHOWN + 1
    )
    # A few cards don't make so many sets.
    if (
        2 ** len(deal.table) <= OPTIONS_SHOWN
        or max(map(len, listed.values()), default=0) <= OPTIONS_SHOWN
    ):
        return listed, False
    return {card: sets[:OPTIONS_SHOWN] for card, sets in listed.items()}, True


def _recent(deal: Deal | None) -> list[RecentPlay]:
    """The latest plays as everybody saw them."""
    return [
        RecentPlay(
            seat=play.seat,
            card=play.card,
            take=list(play.take),
            scopa=play.scopa,
            to_pile=play.to_pile,
            auto=play.auto,
        )
        for play in (deal.plays[-deal.rules.players :] if deal else ())
    ]


def _gone(room: Room) -> list[str] | None:
    if room.settings.hints != "memory":
        return None
    piles = room.deal.piles if room.deal else ()
    return display_order([card for pile in piles for card in pile])


def _commitment(room: Room) -> str | None:
    shuffle = room.shuffle if room.phase == "playing" else room.next_shuffle
    return commitment(shuffle) if shuffle else None


_SALT_BYTES: Final = 32


@lru_cache(maxsize=1024)
def commitment(shuffle: Shuffle) -> str:
    """SHA-256, in hex, of the salt's bytes and the deck (protocol, Proof of the shuffle)."""
    salt = bytes.fromhex(shuffle.salt)
    assert len(salt) == _SALT_BYTES, "a salt has 32 bytes"
    return hashlib.sha256(salt + ",".join(shuffle.deck).encode("ascii")).hexdigest()

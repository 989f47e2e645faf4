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
    Declaration,
    LastingView,
    ListedView,
    Matta,
    OwnView,
    RecentPlay,
    SeatView,
    SideView,
    TableView,
    View,
    whole,
)
from scopa_server.rules import captures
from scopa_server.rules import declare as declaring
from scopa_server.rules.deal import Deal, Play, is_scopa
from scopa_server.rules.record import Rules

from .decide.playing import OPTIONS_SHOWN
from .state import Proposal, Room, Shuffle


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What a view shows beside the log's state: who is there, and the clock."""

    log: str
    online: frozenset[int] = frozenset()
    watchers: tuple[str, ...] = ()
    clock: Clock | None = None


def project(room: Room, viewer: int | None, scene: Scene) -> View:
    """What the person at seat `viewer` sees of a room; None: a watcher."""
    return _whole(room, scene, own(room, viewer))


def project_for_server(room: Room, seat: int, scene: Scene) -> View:
    """What a stand-in sees: what the seat it plays would, with the options listed."""
    return _whole(room, scene, _with_hand(room, seat, hints=True))


def _whole(room: Room, scene: Scene, own_view: OwnView) -> View:
    return whole(room.seq, lasting(room, scene), listed(room, scene), table(room, scene), own_view)


def own(room: Room, viewer: int | None) -> OwnView:
    """What its viewer alone may see of a room; None: a watcher."""
    if viewer is None:
        return _WATCHERS_OWN
    if room.seats[viewer].reserved is not None:
        return OwnView(you=viewer, hand=())
    return _with_hand(room, viewer, hints=room.settings.hints != "off")


_WATCHERS_OWN: Final = OwnView()


def _with_hand(room: Room, seat: int, *, hints: bool) -> OwnView:
    deal, rules = room.deal, room.rules
    if deal is None:
        return OwnView(you=seat, hand=())
    options, cut = None, False
    if hints and deal.to_play == seat and room.phase == "playing":
        options, cut = _options(rules, deal, seat)
    if not (rules.declarations or rules.first_card_choice):
        return OwnView(you=seat, hand=deal.hands[seat], options=options, options_cut=cut)
    return OwnView(
        you=seat,
        hand=deal.hands[seat],
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
    "totals",
    "count",
    "matches",
    "winner",
    "proposal",
    "shuffle",
    "next_shuffle",
)


def card_between(before: Room, after: Room) -> Play | None:
    """The card after which a room is as it is, if nothing else happened.

    Views of the room then differ in the seat that played it, in its side if it took something, in
    the plays, in what a `table` shows, and in the own parts of that seat and of the one to play.
    """
    was, deal = before.deal, after.deal
    if deal is None or was is None or len(deal.plays) != len(was.plays) + 1:
        return None
    same = replace(
        before,
        seq=after.seq,
        at=after.at,
        clock_from=after.clock_from,
        clock_used=after.clock_used,
        deal=deal,
    )
    alike = same == after and deal.batch == was.batch and deal.declared is was.declared
    return deal.plays[-1] if alike else None


def listed(room: Room, scene: Scene) -> ListedView:
    """What everybody may see of a room in lists."""
    return ListedView(
        seats=seats(room, scene.online),
        sides=[side(room, number) for number in range(room.rules.sides)],
        recent=[recent_play(play) for play in recent(room.deal)],
        gone=gone(room),
    )


def table(room: Room, scene: Scene) -> TableView:
    """What everybody may see of a room that every card changes."""
    deal = room.deal
    if deal is None:
        return TableView(turn=0, clock=scene.clock, table=(), stock=0)
    return TableView(
        turn=deal.turn,
        to_play=room.to_play,
        clock=scene.clock,
        table=deal.table,
        stock=deal.stock,
        matta=_matta(deal),
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
    return [seat(room, number, online) for number in range(len(room.seats))]


def seat(room: Room, number: int, online: frozenset[int]) -> SeatView:
    """One seat, as anybody may see it."""
    deal, there = room.deal, room.seats[number]
    return SeatView(
        seat=number,
        name=there.name,
        kind=there.kind,
        online=number in online or there.kind == "bot",
        away=there.away,
        stand_in=there.stand_in or there.kind == "vacant",
        reserved=there.reserved.name if there.reserved else None,
        side=number % room.rules.sides,
        cards=len(deal.hands[number]) if deal else 0,
        ready=there.ready,
        revealed=_revealed(deal, number) if deal and deal.declared else None,
    )


def _revealed(deal: Deal, seat: int) -> list[str] | None:
    return list(declaring.revealed(deal, seat)) or None


def _matta(deal: Deal) -> Matta | None:
    named = deal.matta
    return None if named is None else Matta(value=named.value, seat=named.seat)


def _declarations(deal: Deal, seat: int) -> list[Declaration]:
    return [
        Declaration(kind=declared.kind, matta=declared.matta, points=declared.points)
        for declared in declaring.may_declare(deal, seat)
    ]


def _first_card(room: Room, seat: int) -> str | None:
    return room.offered.deck[0] if room.offered and room.asked == seat else None


def side(room: Room, number: int) -> SideView:
    """One side, as anybody may see it."""
    deal = room.deal
    # Once counted, leftovers may count as well.
    counted = room.count if deal and room.phase in {"deal_over", "match_over"} else None
    swept, opened = _swept(deal, number) if deal and deal.sweeps else ([], 0)
    return SideView(
        side=number,
        score=room.totals[number],
        captured=sum(map(len, deal.piles[number :: deal.rules.sides])) if deal else 0,
        scope=counted.sides[number].scope if counted else len(swept) + opened,
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


_FEW: Final = OPTIONS_SHOWN.bit_length() - 1
"""So few cards make no more sets than are shown."""


def _options(rules: Rules, deal: Deal, seat: int) -> tuple[dict[str, list[tuple[str, ...]]], bool]:
    """For each card of the seat to play every set it may take, and whether some were cut."""
    hand, table = deal.hands[seat], deal.table
    if len(table) <= _FEW:
        return captures.listing(rules, hand, table, matta=deal.named), False
    listed = captures.listing(rules, hand, table, matta=deal.named, limit=OPTIONS_SHOWN + 1)
    if max(map(len, listed.values()), default=0) <= OPTIONS_SHOWN:
        return listed, False
    return {card: sets[:OPTIONS_SHOWN] for card, sets in listed.items()}, True


def recent(deal: Deal | None) -> tuple[Play, ...]:
    """The latest plays."""
    return deal.plays[-deal.rules.players :] if deal else ()


def recent_play(play: Play) -> RecentPlay:
    """A play as everybody saw it."""
    return RecentPlay(
        seat=play.seat,
        card=play.card,
        take=list(play.take),
        scopa=play.scopa,
        to_pile=play.to_pile,
        auto=play.auto,
    )


def gone(room: Room) -> list[str] | None:
    """All cards that were taken, where that is to be seen."""
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

"""A recorded deal, step by step: what lay where after each play. Pure; it follows the record.

No rule of the game is known here: what a play took, and whether it was a scopa, is on record.
"""

from collections.abc import Iterator

from msgspec import Struct

from scopa_protocol import events as happened
from scopa_protocol.events import Event
from scopa_protocol.history import HistoryDeal
from scopa_protocol.settings import Settings
from scopa_protocol.views import Matta, RecentPlay, SeatView, SideView, View

DECK = 40
MATTA = "7C"


class Step(Struct, frozen=True):
    """The table after a play, everything open, and what happened since the step before."""

    view: View
    events: list[Event]


class _Table(Struct):
    """What lies where; changed play by play."""

    hands: list[list[str]]
    table: list[str]
    captured: list[int]
    scope: list[int]
    scope_cards: list[list[str]]
    batch: int = 1
    matta: Matta | None = None
    recent: RecentPlay | None = None


def steps(deal: HistoryDeal, names: list[str | None]) -> list[Step]:
    """Every step of a deal: as it was dealt, then after each play."""
    table = _dealt(deal)
    events = [*_opening(deal), *_declared(deal, table)]
    found = [Step(_view(deal, names, table, 0), events)]
    for turn, (seat, card, take, scopa) in enumerate(deal.plays, 1):
        to_pile = bool(take) or _took_itself(deal, turn)
        play = RecentPlay(seat=seat, card=card, take=take, scopa=scopa, to_pile=to_pile, auto=False)
        _play(deal, table, play)
        events = [_played(play), *_next_batch(deal, table)]
        if turn == len(deal.plays):
            events += _end(deal, table)
        found.append(Step(_view(deal, names, table, turn), events))
    return found


def _dealt(deal: HistoryDeal) -> _Table:
    sides = deal.rules.sides
    dealt = _Table(
        hands=[list(hand) for hand in deal.deals[0]] if deal.deals else [],
        table=list(deal.table),
        captured=[0] * sides,
        scope=[0] * sides,
        scope_cards=[[] for _ in range(sides)],
    )
    swept = deal.opening_swept
    if swept is not None:
        dealt.table = []
        dealt.captured[swept.side % sides] += len(swept.cards)
        dealt.scope[swept.side % sides] += swept.scope
    return dealt


def _opening(deal: HistoryDeal) -> Iterator[Event]:
    first, swept = deal.first_card, deal.opening_swept
    if deal.void:
        hands = deal.deals[0] if deal.deals else []
        yield happened.DealVoided(deal=deal.deal, table=deal.table, hands=hands, proof=deal.proof)
        return
    if first is not None and first.kept:
        yield happened.FirstCardKept(seat=first.seat)
    elif first is not None:
        yield happened.FirstCardLaid(seat=first.seat, card=first.card)
    yield _dealing(deal, 1)
    if swept is not None:
        yield happened.OpeningSwept(side=swept.side, cards=swept.cards, scope=swept.scope)


def _dealing(deal: HistoryDeal, batch: int) -> Event:
    hands = deal.deals[batch - 1] if deal.deals else []
    cards = [len(hand) for hand in hands]
    return happened.Dealt(deal=deal.deal, batch=batch, dealer=deal.dealer, cards=cards)


def _declared(deal: HistoryDeal, table: _Table) -> Iterator[Event]:
    """The batch's declared hands: when in the batch isn't on record."""
    for hand in deal.declared:
        if hand.batch == table.batch:
            if hand.matta is not None:
                table.matta = Matta(value=hand.matta, seat=hand.seat)
            yield happened.Declared(
                seat=hand.seat,
                kind=hand.kind,
                cards=hand.cards,
                matta=hand.matta,
                points=hand.points,
            )


def _took_itself(deal: HistoryDeal, turn: int) -> bool:
    """Whether a card without a capture went to its player's pile all the same.

    That isn't on record, but where it ended is: nobody took it later, nobody got it as left over.
    """
    seat, card, _, _ = deal.plays[turn - 1]
    if deal.count is None or any(card in take for _, _, take, _ in deal.plays[turn:]):
        return False
    leftovers = deal.count.leftovers
    if leftovers is not None and card in leftovers.cards:
        return False
    side = seat % deal.rules.sides
    return side < len(deal.count.sides) and card in deal.count.sides[side].pile


def _play(deal: HistoryDeal, table: _Table, play: RecentPlay) -> None:
    if 0 <= play.seat < len(table.hands):
        table.hands[play.seat] = [card for card in table.hands[play.seat] if card != play.card]
    side = play.seat % deal.rules.sides
    table.recent = play
    if not play.to_pile:
        table.table.append(play.card)
        return
    table.table = [card for card in table.table if card not in play.take]
    table.captured[side] += 1 + len(play.take)
    if MATTA in (play.card, *play.take):
        table.matta = None
    if play.scopa:
        table.scope[side] += 1
        table.scope_cards[side].append(play.card)


def _played(play: RecentPlay) -> Event:
    return happened.Played(
        seat=play.seat,
        card=play.card,
        take=play.take,
        scopa=play.scopa,
        to_pile=play.to_pile,
        auto=play.auto,
    )


def _next_batch(deal: HistoryDeal, table: _Table) -> Iterator[Event]:
    if any(table.hands) or table.batch >= len(deal.deals):
        return
    table.hands = [list(hand) for hand in deal.deals[table.batch]]
    table.batch += 1
    yield _dealing(deal, table.batch)
    yield from _declared(deal, table)


def _end(deal: HistoryDeal, table: _Table) -> Iterator[Event]:
    left = deal.count.leftovers if deal.count is not None else None
    if left is not None and left.cards:
        table.table = [card for card in table.table if card not in left.cards]
        table.captured[left.side % deal.rules.sides] += len(left.cards)
        yield happened.Leftovers(side=left.side, cards=left.cards)


def _view(deal: HistoryDeal, names: list[str | None], table: _Table, turn: int) -> View:
    over = turn == len(deal.plays)
    dealt = sum(len(hand) for hands in deal.deals[: table.batch] for hand in hands)
    return View(
        room="",
        log="",
        seq=turn,
        phase="deal_over" if over else "playing",
        passcode=False,
        rules=deal.rules,
        settings=Settings(),
        seats=_seats(deal, names, table),
        watchers=[],
        sides=_sides(deal, table),
        match=deal.match,
        deal=deal.deal,
        batch=table.batch,
        dealer=deal.dealer,
        turn=turn + (not over),
        to_play=None if over else deal.plays[turn][0],
        table=list(table.table),
        stock=max(DECK - dealt - len(deal.table), 0),
        declarations=[],
        matta=table.matta,
        recent=[table.recent] if table.recent is not None else [],
        deals=[],
        count=deal.count if over else None,
        matches=[],
    )


def _seats(deal: HistoryDeal, names: list[str | None], table: _Table) -> list[SeatView]:
    seats = max(deal.rules.players, len(table.hands))
    hands = [*table.hands, *([] for _ in range(seats))]
    return [
        SeatView(
            seat=seat,
            name=names[seat] if seat < len(names) else None,
            kind="person",
            online=True,
            away=False,
            stand_in=False,
            side=seat % deal.rules.sides,
            cards=len(hands[seat]),
            ready=False,
            revealed=list(hands[seat]),
        )
        for seat in range(seats)
    ]


def _sides(deal: HistoryDeal, table: _Table) -> list[SideView]:
    """Scores as they were before the deal, where its count tells."""
    return [
        SideView(
            side=side,
            score=_score(deal, side),
            captured=table.captured[side],
            scope=table.scope[side],
            scope_cards=list(table.scope_cards[side]),
        )
        for side in range(deal.rules.sides)
    ]


def _score(deal: HistoryDeal, side: int) -> int:
    if deal.count is None or side >= min(len(deal.count.sides), len(deal.count.totals)):
        return 0
    return deal.count.totals[side] - deal.count.sides[side].total

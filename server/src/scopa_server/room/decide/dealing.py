"""From a shuffled deck to a deal that can be played, and from its last card to the next."""

from scopa_protocol.views import Proof
from scopa_server.room import events as e
from scopa_server.room.context import Context
from scopa_server.room.state import Room, Shuffle
from scopa_server.rules import deal as deals
from scopa_server.rules import opening
from scopa_server.rules.count import count_deal, facts
from scopa_server.rules.match import add, winner

from .counting import as_counted


def next_deal(room: Room, context: Context) -> e.Events:
    """The deal after the present one, from the deck that was committed to."""
    assert room.dealer is not None, "a match has a dealer"
    assert room.next_shuffle is not None, "between deals the next deck is fixed"
    dealer = deals.next_dealer(room.rules, room.dealer, voided=False)
    return deal_anew(room, dealer, room.next_shuffle, context)


def deal_anew(room: Room, dealer: int, shuffle: Shuffle, context: Context) -> e.Events:
    """Deal a new deal, or show its first card where that is a choice (rulebook, The deal 6)."""
    number = room.deal_number + 1
    if room.rules.first_card_choice:
        return (e.FirstCardOffered(deal=number, dealer=dealer),)
    return deal_out(room, number, dealer, shuffle, context)


def deal_out(
    room: Room,
    number: int,
    dealer: int,
    shuffle: Shuffle,
    context: Context,
    *,
    laid: bool | None = None,
) -> e.Events:
    """Deal, as often as it takes until a deal is not void (rulebook, The deal 5).

    Where the first card is a choice, after a void deal it is to be made again.
    """
    events: list[e.LogEvent] = []
    table = _opening(room, dealer, shuffle, laid)
    while deals.is_void(room.rules, table):
        events.append(e.DealVoided(deal=number, dealer=dealer))
        shuffle = next(context.shuffles)
        events.append(e.Shuffled(shuffle=shuffle))
        dealer = deals.next_dealer(room.rules, dealer, voided=True)
        number += 1
        if room.rules.first_card_choice:
            return (*events, e.FirstCardOffered(deal=number, dealer=dealer))
        table = _opening(room, dealer, shuffle, laid)
    return (*events, e.Dealt(deal=number, batch=1, dealer=dealer), *_swept(room, dealer, table))


def _opening(room: Room, dealer: int, shuffle: Shuffle, laid: bool | None) -> tuple[str, ...]:
    return deals.begin(room.rules, dealer, shuffle.deck, laid=laid).table


def _swept(room: Room, dealer: int, table: tuple[str, ...]) -> e.Events:
    """What the opening table gives the dealer, if anything (rulebook, The deal 7)."""
    scope = opening.scope(room.rules, table)
    return (e.OpeningSwept(seat=dealer, cards=table, scope=scope),) if scope else ()


def after_play(room: Room, played: deals.Deal, context: Context) -> e.Events:
    """What a card brings about: nothing, the next batch, or the end of the deal."""
    if deals.needs_batch(played):
        dealer = played.dealer
        return (e.Dealt(deal=room.deal_number, batch=played.batch + 1, dealer=dealer),)
    if deals.is_over(played):
        return _end_of_deal(room, played, context)
    return ()


def _end_of_deal(room: Room, played: deals.Deal, context: Context) -> e.Events:
    events: list[e.LogEvent] = []
    left = deals.leftovers(played)
    if left is not None:
        seat, cards = left
        events.append(e.Leftovers(seat=seat, cards=cards))
    assert room.shuffle is not None, "a deal has a deck"
    done = facts(played)
    counts = count_deal(room.rules, done)
    totals = add(room.rules, room.totals, counts)
    shown = as_counted(room.rules, room.deal_number, done, counts, totals, proof(room.shuffle))
    events.append(e.DealCounted(count=shown))
    side = winner(room.rules, totals, counts)
    if side is None:
        events.append(e.Shuffled(shuffle=next(context.shuffles)))
    else:
        events.append(e.MatchWon(side=side, totals=tuple(totals)))
    return tuple(events)


def proof(shuffle: Shuffle) -> Proof:
    """What the commitment was made of (protocol, Proof of the shuffle)."""
    return Proof(salt=shuffle.salt, deck=",".join(shuffle.deck))

"""From a shuffled deck to a deal that can be played, and from its last card to the next."""

from scopa_protocol.views import Proof
from scopa_server.room import events as e
from scopa_server.room.context import Context
from scopa_server.room.state import Room, Shuffle
from scopa_server.rules import deal as deals
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
    """Deal, as often as it takes until a deal is not void (rulebook, The deal 5)."""
    events: list[e.LogEvent] = []
    number = room.deal_number + 1
    while _is_void(room, dealer, shuffle):
        events.append(e.DealVoided(deal=number, dealer=dealer))
        shuffle = next(context.shuffles)
        events.append(e.Shuffled(shuffle=shuffle))
        dealer = deals.next_dealer(room.rules, dealer, voided=True)
        number += 1
    events.append(e.Dealt(deal=number, batch=1, dealer=dealer))
    return tuple(events)


def _is_void(room: Room, dealer: int, shuffle: Shuffle) -> bool:
    return deals.is_void(room.rules, deals.begin(room.rules, dealer, shuffle.deck).table)


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

"""One run through the 40 cards, as a frozen value (rulebook, The deal; A turn)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, Literal, TypeAlias

from scopa_server.rules.cards import DECK, MATTA, VALUE, VALUES, Card
from scopa_server.rules.record import Rules
from scopa_server.rules.totals import CAPTURES
from scopa_server.rules.value import changed, value

SweepKind: TypeAlias = Literal["capture", "leftovers", "opening"]
DeclarationKind: TypeAlias = Literal["low", "three", "both"]


@value
class Sweep:
    """How the table was emptied once, whether or not the rules count it as a scopa."""

    seat: int
    value: int
    """Of the card that swept, a matta's named value; 1 if no card was played."""
    cards: int
    """The number in it, the played one included."""
    card: Card | None = None
    by_ace: bool = False
    """Taken as an ace's sweep, and no other way."""
    last_card: bool = False
    kind: SweepKind = "capture"


@value
class Play:
    """One card played, and what came of it."""

    seat: int
    card: Card
    take: tuple[Card, ...]
    to_pile: bool
    """Off: the card stays on the table."""
    scopa: bool
    """It swept, and that counts under the rules it was played by."""
    sweep: Sweep | None = None
    auto: bool = False
    """Played by the server for the seat."""


@value
class Declared:
    """A hand declared and laid open (rulebook, Cirulla's declarations)."""

    seat: int
    batch: int
    kind: DeclarationKind
    matta: int | None
    """The value named for 7C; None: its own, or it isn't among the cards."""
    points: int
    cards: tuple[Card, ...] = field(repr=False)


@value
class Named:
    """What 7C stands for, in the hand that declared it so and on the table."""

    value: int
    seat: int
    """Who named it."""


@value
class Deal:
    """A deal as it stands: every card is in one hand, one pile, on the table or in the stock.

    Its repr, which may end up in a log, shows neither hands nor stock.
    """

    rules: Rules
    dealer: int
    deck: tuple[Card, ...] = field(repr=False)
    """All 40 cards in the order they are dealt."""
    batch: int
    """The batch that was dealt last, from 1; 0 before the first (`turn` too)."""
    turn: int
    """The number of the next card to be played, from 1; the last one's when it is over."""
    to_play: int | None
    """The seat to play, also while its next batch is due; None when it is over."""
    hands: tuple[tuple[Card, ...], ...] = field(repr=False)
    table: tuple[Card, ...]
    piles: tuple[tuple[Card, ...], ...]
    """By seat, a capture's played card first."""
    sweeps: tuple[Sweep, ...]
    plays: tuple[Play, ...]
    last_taker: int | None
    stock: int
    """How many cards at the deck's end are undealt."""
    laid: bool | None = None
    """Whether the first card was refused; None where it was not, or not yet, a choice."""
    declared: tuple[Declared, ...] = ()
    matta: Named | None = None
    """Until 7C is taken: in a pile it is a seven again."""

    @property
    def named(self) -> int | None:
        """The value that 7C stands for in play, if not its own."""
        return None if self.matta is None else self.matta.value


def shape(players: int, hand: int) -> tuple[int, int]:
    """Give the opening table's size and the number of batches (rulebook, The deal 2)."""
    batches, opening = divmod(len(DECK), hand * players)
    return opening, batches


def leader(rules: Rules, dealer: int) -> int:
    """Name the seat that leads every batch (rulebook, The deal 4)."""
    return (dealer + 1) % rules.players


_VOID: Final[Mapping[str, tuple[int, int]]] = {
    "three_kings": (10, 3),
    "two_aces": (1, 2),
    "never": (0, 1),
}
"""The value that makes an opening table void, and how many of it."""


def is_void(rules: Rules, table: Sequence[Card]) -> bool:
    """Tell whether an opening table voids the deal (rulebook, The deal 5)."""
    value, number = _VOID[rules.void_deal]
    return sum(VALUE[card] == value for card in table) >= number


_VOID_MOVES: Final[Mapping[str, int]] = {"same": 0, "next": 1}


def next_dealer(rules: Rules, dealer: int, voided: bool) -> int:
    """Name who deals after this deal (rulebook, The deal 1 and 5)."""
    moves = _VOID_MOVES[rules.void_dealer] if voided else 1
    return (dealer + moves) % rules.players


def draw_dealer(
    players: int, decks: Iterator[Sequence[Card]]
) -> tuple[list[tuple[int, Card]], int]:
    """Draw for the first dealer, a shuffled deck a round (rulebook, The deal 1).

    Gives every draw in order, as seat and card, and the dealer.
    """
    draws: list[tuple[int, Card]] = []
    tied: list[int] = list(range(players))
    while len(tied) > 1:
        drawn = list(zip(tied, next(decks), strict=False))
        draws += drawn
        lowest = min(VALUE[card] for _, card in drawn)
        tied = [seat for seat, card in drawn if VALUE[card] == lowest]
    return draws, tied[0]


def _hands(rules: Rules, dealer: int, cards: Sequence[Card]) -> tuple[tuple[Card, ...], ...]:
    """Deal all the cards, one to each seat from the leader on, round by round."""
    players, first = rules.players, leader(rules, dealer)
    return tuple(tuple(cards[(seat - first) % players :: players]) for seat in range(players))


def begin(rules: Rules, dealer: int, deck: Sequence[Card], *, laid: bool | None = None) -> Deal:
    """Deal the first batch, then the opening table (rulebook, The deal 3 and 6).

    `laid`: the first card was refused, and begins the table.
    """
    opening, _ = shape(rules.players, rules.hand)
    dealt, first = rules.hand * rules.players, int(bool(laid))
    return Deal(
        rules=rules,
        dealer=dealer,
        deck=tuple(deck),
        batch=1,
        turn=1,
        to_play=leader(rules, dealer),
        hands=_hands(rules, dealer, deck[first : first + dealt]),
        table=(*deck[:first], *deck[first + dealt : dealt + opening]),
        piles=((),) * rules.players,
        sweeps=(),
        plays=(),
        last_taker=None,
        stock=len(deck) - dealt - opening,
        laid=laid,
    )


def needs_batch(deal: Deal) -> bool:
    """Tell whether all hands are empty and the stock is not."""
    return deal.stock > 0 and not any(deal.hands)


def is_last_of_hands(deal: Deal) -> bool:
    """Tell whether the next card played leaves all hands empty."""
    seat, hands = deal.to_play, deal.hands
    return seat is not None and len(hands[seat]) == 1 and sum(map(len, hands)) == 1


def next_batch(deal: Deal) -> Deal:
    """Deal the next batch; nothing is added to the table (rulebook, The deal 3)."""
    dealt = deal.rules.hand * deal.rules.players
    cards = deal.deck[-deal.stock :][:dealt]
    return changed(
        deal,
        batch=deal.batch + 1,
        hands=_hands(deal.rules, deal.dealer, cards),
        stock=deal.stock - dealt,
    )


def is_over(deal: Deal) -> bool:
    """Tell whether the deal's last card has been played."""
    return deal.stock == 0 and not any(deal.hands)


def _is_by_ace(rules: Rules, value: int, taken: Sequence[int]) -> bool:
    if value != 1 or not rules.ace_sweeps:
        return False
    return tuple(taken) != (1,) and sum(taken) != CAPTURES[rules.capture][value].fifteen


_COUNTS: Final[Mapping[SweepKind, Callable[[Rules, Sweep], bool]]] = {
    "capture": lambda rules, sweep: (
        (rules.ace_scopa or not sweep.by_ace) and (rules.last_card_scopa or not sweep.last_card)
    ),
    "leftovers": lambda rules, _: rules.leftovers_scopa,
    "opening": lambda _rules, _sweep: True,
}


def is_scopa(rules: Rules, sweep: Sweep) -> bool:
    """Tell whether a sweep counts as a scopa (rulebook, A turn)."""
    return _COUNTS[sweep.kind](rules, sweep)


def _is_last_card(deal: Deal) -> bool:
    return deal.stock == 0 and is_last_of_hands(deal)


def outcome(
    deal: Deal,
    card: Card,
    take: Sequence[Card],
    *,
    auto: bool = False,
) -> Play:
    """Say what comes of a legal play by the seat to play; ValueError if none is."""
    if deal.to_play is None:
        raise ValueError("the deal is over")
    sweep = None
    if take and len(take) == len(deal.table):
        sweep = _sweep(deal, deal.to_play, card, take)
    to_pile = bool(take) or (not deal.table and _takes_itself(deal, card))
    scopa = sweep is not None and is_scopa(deal.rules, sweep)
    return Play(deal.to_play, card, tuple(take), to_pile, scopa, sweep, auto)


def _sweep(deal: Deal, seat: int, card: Card, take: Sequence[Card]) -> Sweep:
    value_of = VALUES[deal.named]
    return Sweep(
        seat=seat,
        value=value_of[card],
        cards=1 + len(take),
        card=card,
        by_ace=_is_by_ace(deal.rules, value_of[card], [value_of[other] for other in take]),
        last_card=_is_last_card(deal),
    )


def _takes_itself(deal: Deal, card: Card) -> bool:
    """Tell whether a card led to an empty table goes to the pile (rulebook, `ace_on_empty`)."""
    return deal.rules.ace_on_empty == "takes_itself" and VALUES[deal.named][card] == 1


def _put(
    tuples: tuple[tuple[Card, ...], ...], seat: int, cards: tuple[Card, ...]
) -> tuple[tuple[Card, ...], ...]:
    changed = list(tuples)
    changed[seat] = cards
    return tuple(changed)


def play(deal: Deal, fact: Play) -> Deal:
    """Apply a play as it is recorded, deciding nothing about it again."""
    seat, card, take = fact.seat, fact.card, fact.take
    hand = list(deal.hands[seat])
    hand.remove(card)
    hands = list(deal.hands)
    hands[seat] = tuple(hand)
    piles, last_taker, matta = deal.piles, deal.last_taker, deal.matta
    if fact.to_pile:
        piles, last_taker = _put(piles, seat, (*piles[seat], card, *take)), seat
        table = tuple([lying for lying in deal.table if lying not in take])
        if matta is not None and (card == MATTA or MATTA in take):
            matta = None
    else:
        table = (*deal.table, card)
    over = not hand and deal.stock == 0 and not any(hands)
    # In the order of its fields: named, they would take twice the time.
    return Deal(
        deal.rules,
        deal.dealer,
        deal.deck,
        deal.batch,
        deal.turn if over else deal.turn + 1,
        None if over else (seat + 1) % deal.rules.players,
        tuple(hands),
        table,
        piles,
        deal.sweeps if fact.sweep is None else (*deal.sweeps, fact.sweep),
        (*deal.plays, fact),
        last_taker,
        deal.stock,
        deal.laid,
        deal.declared,
        matta,
    )


def leftovers(deal: Deal) -> tuple[int, tuple[Card, ...]] | None:
    """Say who gets the cards left on a deal's table, and which; the same once it is finished."""
    if deal.sweeps and deal.sweeps[-1].kind == "leftovers":
        sweep = deal.sweeps[-1]
        return sweep.seat, deal.piles[sweep.seat][-sweep.cards :]
    if not is_over(deal) or not deal.table or deal.last_taker is None:
        return None
    return deal.last_taker, deal.table


def finish(deal: Deal) -> Deal:
    """Give the leftovers to the seat that captured last (rulebook, A turn)."""
    left = leftovers(deal)
    if left is None or not deal.table:
        return deal
    seat, cards = left
    sweep = Sweep(seat=seat, value=1, cards=len(cards), kind="leftovers")
    return changed(
        deal,
        table=(),
        piles=_put(deal.piles, seat, deal.piles[seat] + cards),
        sweeps=(*deal.sweeps, sweep),
        matta=None if MATTA in cards else deal.matta,
    )


def declared_points(deal: Deal) -> tuple[int, ...]:
    """Add up what each seat declared in a deal."""
    points = [0] * deal.rules.players
    for done in deal.declared:
        points[done.seat] += done.points
    return tuple(points)

"""What a hand may declare, and what follows (rulebook, Cirulla's declarations)."""

from collections.abc import Iterator, Sequence
from typing import Final

from scopa_server.rules.cards import MATTA, VALUE, Card
from scopa_server.rules.deal import Deal, DeclarationKind, Declared, Named
from scopa_server.rules.record import Rules
from scopa_server.rules.value import changed, value

LOW: Final = 9
"""The most that a low hand totals."""
POINTS: Final[dict[DeclarationKind, int]] = {"low": 3, "three": 10, "both": 13}


@value
class Declaration:
    """A way to declare a hand. `matta`: the value named for 7C, where it stands for another."""

    kind: DeclarationKind
    matta: int | None = None

    @property
    def points(self) -> int:
        """What it is worth."""
        return POINTS[self.kind]


def declarations(rules: Rules, hand: Sequence[Card]) -> tuple[Declaration, ...]:
    """List all that a hand of three may declare, whoever holds it and when."""
    if not rules.declarations:
        return ()
    wild = rules.matta and MATTA in hand
    low, three = list(_low(hand, wild)), list(_three(hand, wild))
    found = [Declaration(kind="low", matta=matta) for matta in low]
    found += [Declaration(kind="three", matta=matta) for matta in three]
    if rules.declare_both:
        found += [Declaration(kind="both", matta=matta) for matta in three if matta in low]
    return tuple(found)


def _low(hand: Sequence[Card], wild: bool) -> Iterator[int | None]:
    """What 7C may be named in a hand that is low with it; None: the hand is low as it stands."""
    total = sum(VALUE[card] for card in hand)
    if wild:
        # Named as it is it would be no other value.
        others = total - VALUE[MATTA]
        yield from (named for named in range(1, LOW - others + 1) if named != VALUE[MATTA])
    if total <= LOW:
        yield None


def _three(hand: Sequence[Card], wild: bool) -> Iterator[int | None]:
    """The same for a hand that is all of one value."""
    values = {VALUE[card] for card in hand}
    others = {VALUE[card] for card in hand if card != MATTA}
    if len(values) == 1:
        yield None
    elif wild and len(others) == 1:
        yield from others


def declared_in_batch(deal: Deal, seat: int) -> Declared | None:
    """Give what a seat has declared in the present batch."""
    made = (done for done in deal.declared if done.batch == deal.batch and done.seat == seat)
    return next(made, None)


def has_played(deal: Deal, seat: int) -> bool:
    """Tell whether a seat has played its first card of the batch, or has no cards yet."""
    return len(deal.hands[seat]) < deal.rules.hand


def may_declare(deal: Deal, seat: int) -> tuple[Declaration, ...]:
    """List what a seat may declare now, in or out of turn."""
    if not deal.rules.declarations or has_played(deal, seat) or declared_in_batch(deal, seat):
        return ()
    return declarations(deal.rules, deal.hands[seat])


def outcome(deal: Deal, seat: int, chosen: Declaration) -> Declared:
    """Say what comes of a declaration that a seat may make."""
    return Declared(
        seat=seat,
        batch=deal.batch,
        kind=chosen.kind,
        matta=chosen.matta,
        points=chosen.points,
        cards=deal.hands[seat],
    )


def declare(deal: Deal, fact: Declared) -> Deal:
    """Apply a declaration as it is recorded."""
    matta = deal.matta
    if fact.matta is not None:
        matta = Named(value=fact.matta, seat=fact.seat)
    return changed(deal, declared=(*deal.declared, fact), matta=matta)


def revealed(deal: Deal, seat: int) -> tuple[Card, ...]:
    """Give the cards of a declared hand that lie open, still to be played."""
    return deal.hands[seat] if declared_in_batch(deal, seat) else ()

"""What a stand-in plays. It sees a view, like any client, and nothing else."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from scopa_protocol.cards import suit, value
from scopa_protocol.views import View

SWEEPABLE: Final = 10
"""A table that totals no more can be swept with one card."""

_SCOPA: Final = 10.0
_LEFT_SWEEPABLE: Final = 6.0
_SETTEBELLO: Final = 6.0
_COIN: Final = 1.5
_CARD: Final = 1.0
_MATTA: Final = "7C"
# How far each value helps towards primiera.
_PRIMIERA: Final = {7: 2.5, 6: 1.5, 1: 1.0, 5: 0.5, 4: 0.3, 3: 0.2, 2: 0.1}


class Choice(NamedTuple):
    """A card, and what it takes."""

    card: str
    take: tuple[str, ...]


def choose(view: View) -> tuple[str, list[str]]:
    """The card to play and what it takes: the best capture, with care for what is left.

    The view must list the options of the seat to play. Raises ValueError if it doesn't.
    """
    best = max(_choices(view), key=lambda choice: (_score(view, choice), choice), default=None)
    if best is None:
        raise ValueError("no options: it is not this seat's turn")
    return best.card, list(best.take)


def _choices(view: View) -> Iterator[Choice]:
    for card, sets in (view.options or {}).items():
        for take in sets:
            yield Choice(card, tuple(take))
        if not sets or not view.rules.must_capture:
            yield Choice(card, ())


def _score(view: View, choice: Choice) -> float:
    left = [card for card in view.table if card not in choice.take]
    if not choice.take:
        return -_worth(choice.card) - _danger(view, [*left, choice.card])
    gain = sum(map(_worth, (choice.card, *choice.take)))
    return gain + (_SCOPA if not left else -_danger(view, left))


def _danger(view: View, table: list[str]) -> float:
    total = sum(map(value, table))
    if view.matta is not None and _MATTA in table:
        total += view.matta.value - value(_MATTA)
    return _LEFT_SWEEPABLE if total <= SWEEPABLE else 0.0


def _worth(card: str) -> float:
    settebello = _SETTEBELLO if card == "7D" else 0.0
    coin = _COIN if suit(card) == "D" else 0.0
    return _CARD + settebello + coin + _PRIMIERA.get(value(card), 0.0)

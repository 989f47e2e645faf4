"""Tables at which the cards are known: decks stacked so that these hands and this table come."""

from collections.abc import Iterator
from itertools import chain

from scopa_protocol import commands as c
from scopa_server.room.state import Shuffle
from scopa_server.rules.cards import DECK

from .tables import Table, shuffles

SALT = "5a" * 32


def stack(*hands: str, table: str = "", then: str = "", laid: str = "") -> tuple[str, ...]:
    """A deck: each hand's cards in the order they come, seat 0 leading; then the table; then these.

    `laid`: a first card that will be refused.
    """
    rounds = zip(*map(str.split, hands), strict=True)
    first = [*laid.split(), *chain(*rounds), *table.split(), *then.split()]
    return (*first, *(card for card in DECK if card not in first))


def deals(players: int, *decks: tuple[str, ...]) -> Iterator[Shuffle]:
    """Draws that make the last seat the dealer, then these decks, then any."""
    # All but the last seat draw a higher card.
    draw = tuple(f"{5 - (seat == players - 1)}{suit}" for seat, suit in _suits(players))
    drawn = (*draw, *(card for card in DECK if card not in draw))
    known = [Shuffle(deck=deck, salt=SALT) for deck in (drawn, *decks)]
    return chain(known, shuffles(0))


def _suits(players: int) -> list[tuple[int, str]]:
    return [(seat, "DCSB"[seat]) for seat in range(players)]


def begun(*decks: tuple[str, ...], **rules: object) -> Table:
    """A match in which these decks come; seat 0 leads the first deal."""
    rules.setdefault("target", 101)
    table = Table(0, **rules).fill()
    table.shuffles = deals(len(table.room.seats), *decks)
    table.do(0, c.Start())
    return table

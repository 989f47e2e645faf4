"""Real chance, from the operating system: decks, salts and tokens. Ids only have to differ."""

import random
import secrets
from collections.abc import Iterator

from scopa_server.room.state import Shuffle
from scopa_server.rules.cards import DECK

_ids = random.Random(secrets.randbits(256))  # noqa: S311 - there is nothing to guess


def shuffles() -> Iterator[Shuffle]:
    """Fresh decks without end, each with the salt of its commitment."""
    chance = secrets.SystemRandom()
    while True:
        deck = list(DECK)
        chance.shuffle(deck)
        yield Shuffle(deck=tuple(deck), salt=secrets.token_hex(32))


def new_token() -> str:
    """A fresh token of 192 random bits."""
    return secrets.token_urlsafe(24)


def new_id() -> str:
    """A commit's id: 16 hex digits."""
    return f"{_ids.getrandbits(64):016x}"


def new_log_id() -> str:
    """A log's id, as views show it."""
    return secrets.token_hex(4)

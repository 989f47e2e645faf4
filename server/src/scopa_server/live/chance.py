"""Real chance, from the operating system: decks, salts and tokens. Ids only have to differ."""

import random
import secrets
import struct
from collections.abc import Iterator
from typing import Final

from scopa_server.room.state import Shuffle
from scopa_server.rules.cards import DECK

_places: Final = struct.Struct(f"{len(DECK)}Q").unpack
_PLACE_BYTES: Final = struct.calcsize("Q")
_ids = random.Random(secrets.randbits(256))  # noqa: S311 - there is nothing to guess


def shuffles() -> Iterator[Shuffle]:
    """Fresh decks without end, each with the salt of its commitment."""
    while True:
        yield Shuffle(deck=_shuffled(), salt=secrets.token_hex(32))


def _shuffled() -> tuple[str, ...]:
    """The deck by random places of 64 bits each, drawn again should two be the same."""
    places: tuple[int, ...] = ()
    while len(set(places)) < len(DECK):
        places = _places(secrets.token_bytes(_PLACE_BYTES * len(DECK)))
    place_of = dict(zip(DECK, places, strict=True))
    return tuple(sorted(DECK, key=place_of.__getitem__))


def new_token() -> str:
    """A fresh token of 192 random bits."""
    return secrets.token_urlsafe(24)


def new_id() -> str:
    """A commit's id: 16 hex digits."""
    return _ids.getrandbits(64).to_bytes(8, "big").hex()


def new_log_id() -> str:
    """A log's id, as views show it."""
    return secrets.token_hex(4)

"""Seat tokens: known to the server only by their hash. Room codes come from them."""

import hashlib
import hmac
import re
from collections.abc import Iterable
from typing import Final

from scopa_protocol.invite import CODE_ALPHABET, CODE_LENGTH

_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{22,64}")


def is_token(text: str) -> bool:
    """Whether a text has the shape of a token."""
    return _TOKEN.fullmatch(text) is not None


def token_hash(token: str) -> str:
    """What the log keeps of a token: SHA-256, in hex."""
    return hashlib.sha256(b"seat token:" + token.encode()).hexdigest()


def is_among(digest: str, known: Iterable[str]) -> bool:
    """Whether a token's hash is one of those known; how long it takes doesn't tell how nearly."""
    # All are compared, whatever comes of the first.
    return sum(hmac.compare_digest(digest, other) for other in known) > 0


def room_code(token: str, attempt: int) -> str:
    """The code of the room that this token opens; the next attempt where one is taken.

    The same token gives the same codes, so a `create` sent again finds the room it made.
    """
    seed = hashlib.sha256(f"room code:{attempt}:{token}".encode()).digest()
    number = int.from_bytes(seed, "big")
    letters: list[str] = []
    for _ in range(CODE_LENGTH):
        number, index = divmod(number, len(CODE_ALPHABET))
        letters.append(CODE_ALPHABET[index])
    return "".join(letters)

"""Which of a machine's workers a room is best served by, as each of them finds by itself."""

from hashlib import blake2b
from typing import Final

from scopa_protocol import commands as c
from scopa_protocol.invite import read_code
from scopa_server.live.chance import new_token
from scopa_server.room.tokens import is_token, room_code

TRIES: Final = 64
"""Tokens that are drawn at most for a room at home at one worker, a few hashes each."""


def home(code: str, workers: int) -> int:
    """The home of a room, from 1: by rendezvous hashing, so that one worker more moves few."""
    return max(range(1, workers + 1), key=lambda number: _weight(code, number))


def _is_home(code: str, number: int, workers: int) -> bool:
    """Whether that worker is a room's home: mostly one of the first others shows that not."""
    own = _weight(code, number)
    return all(_weight(code, other) < own for other in range(1, workers + 1) if other != number)


def _weight(code: str, number: int) -> bytes:
    return blake2b(f"{number}:{code}".encode(), digest_size=8).digest()


def destination(command: c.Command) -> str | None:
    """The code of the room that a command wants to enter, see or open, if that is known."""
    match command:
        case c.Look() | c.Join() | c.Resume() | c.Watch():
            return read_code(command.room)
        case c.Create(token=str() as token) if is_token(token):
            # Sent again, to any worker, it finds the room that it has opened.
            return room_code(token, 0)
        case _:
            return None


def token_at(number: int, workers: int) -> str:
    """A fresh token whose room is at home at that worker, or with bad luck at another."""
    token = new_token()
    for _ in range(TRIES - 1):
        if _is_home(room_code(token, 0), number, workers):
            break
        token = new_token()
    return token

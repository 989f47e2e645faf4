"""Commits for the tests of the journal."""

import secrets
from collections.abc import Sequence

from scopa_server.journal import Draft, Journal, Stored

DAY = 86_400


def draft(number: int = 1, previous: str = "", payload: bytes = b"events") -> Draft:
    """Return a commit with a random id; from number 2 on it needs a predecessor's id."""
    return Draft(number, secrets.token_hex(8), previous, payload)


def after(previous: Draft, payload: bytes = b"events") -> Draft:
    """Return a commit that follows another."""
    return draft(previous.number + 1, previous.id, payload)


def new_room() -> str:
    """Return the code of a room that no other test uses."""
    return secrets.token_hex(4).upper()


def chain(payloads: Sequence[bytes]) -> list[Draft]:
    """Return commits that follow one another, with these payloads."""
    drafts: list[Draft] = []
    for payload in payloads:
        drafts.append(after(drafts[-1], payload) if drafts else draft(payload=payload))
    return drafts


async def store(
    journal: Journal, room: str, drafts: Sequence[Draft], header: bytes = b"header", ttl: int = DAY
) -> None:
    """Append commits that are new; the header goes with each."""
    for each in drafts:
        outcome = await journal.append(room, each, header=header, ttl=ttl)
        assert isinstance(outcome, Stored)

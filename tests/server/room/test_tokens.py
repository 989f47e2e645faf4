"""Tokens and codes: made by chance, kept as hashes, compared without telling how nearly."""

import hmac
import secrets
from collections import Counter

import pytest

from scopa_protocol.invite import CODE_ALPHABET, CODE_LENGTH, read_code
from scopa_server.live import chance
from scopa_server.room import tokens

BITS_EACH = 6
"""Of a letter of a token."""


def test_a_token_has_more_random_bits_than_anybody_can_guess(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def token_urlsafe(size: int) -> str:
        asked.append(8 * size)
        return made(size)

    made = secrets.token_urlsafe
    monkeypatch.setattr(secrets, "token_urlsafe", token_urlsafe)
    found = {chance.new_token() for _ in range(1000)}
    assert len(found) == 1000
    assert min(asked) >= 128
    assert all(tokens.is_token(token) for token in found)
    assert all(len(token) * BITS_EACH >= 128 for token in found)


def test_a_shorter_token_is_none() -> None:
    assert not tokens.is_token("a" * 21)
    assert tokens.is_token("a" * 22)


def test_a_hash_tells_nothing_of_its_token() -> None:
    token = chance.new_token()
    digest = tokens.token_hash(token)
    assert token not in digest
    assert len(digest) == 64
    # A code is made of the same token, and shares nothing with what is kept of it.
    code = tokens.room_code(token, 0)
    assert code.lower() not in digest


def test_codes_are_drawn_evenly_from_all_there_are() -> None:
    codes = [tokens.room_code(chance.new_token(), 0) for _ in range(20_000)]
    assert len(set(codes)) == len(codes)
    assert all(read_code(code) == code for code in codes)
    assert len(CODE_ALPHABET) ** CODE_LENGTH > 8 * 10**11
    even = len(codes) / len(CODE_ALPHABET)
    for place in range(CODE_LENGTH):
        counted = Counter(code[place] for code in codes)
        assert set(counted) == set(CODE_ALPHABET)
        # Nine standard deviations of what chance does.
        assert all(abs(times - even) < 9 * even**0.5 for times in counted.values())


def test_a_token_is_compared_with_all_that_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[str, str]] = []

    def compare(one: str, other: str) -> bool:
        compared.append((one, other))
        return same(one, other)

    same = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", compare)
    known = [tokens.token_hash(name * 22) for name in "abc"]
    for name, held in (("a", True), ("b", True), ("c", True), ("d", False)):
        compared.clear()
        assert tokens.is_among(tokens.token_hash(name * 22), known) is held
        assert [other for _, other in compared] == known
    assert not tokens.is_among(tokens.token_hash("a" * 22), [])

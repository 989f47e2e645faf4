"""Invite codes and invites."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scopa_protocol.invite import (
    CODE_ALPHABET,
    CODE_LENGTH,
    Invite,
    endpoint,
    read_code,
    read_invite,
    write_invite,
)

CODE = "KRTNWXYZ"


def test_the_alphabet_has_no_look_alikes() -> None:
    assert set("ILO01").isdisjoint(CODE_ALPHABET)
    assert len(set(CODE_ALPHABET)) == len(CODE_ALPHABET) == 31


@pytest.mark.parametrize(
    "typed", [CODE, "krtnwxyz", "KRTN-WXYZ", "krtn-wxyz", " KRTN WXYZ\n", "k-r-t-n-w-x-y-z"]
)
def test_a_code_is_read_as_people_type_it(typed: str) -> None:
    assert read_code(typed) == CODE
    assert read_invite(typed) == Invite(None, CODE)


@pytest.mark.parametrize(
    "typed", ["", "KRTNWXY", "KRTNWXYZ2", "KRTNWXY0", "KRTNWXYI", "KRTNWXY\u00dc", "ßABCDEF", "--"]
)
def test_anything_else_is_no_code(typed: str) -> None:
    assert read_code(typed) is None


@pytest.mark.parametrize(
    ("server", "url"),
    [
        ("localhost:8765", "ws://localhost:8765/ws"),
        ("scopa.example", "ws://scopa.example/ws"),
        ("ws://127.0.0.1:8765", "ws://127.0.0.1:8765/ws"),
        ("ws://127.0.0.1:8765/ws", "ws://127.0.0.1:8765/ws"),
        ("wss://scopa.example/", "wss://scopa.example/ws"),
        ("wss://scopa.example/cards/table", "wss://scopa.example/cards/table/ws"),
        ("wss://scopa.example/cards/ws/", "wss://scopa.example/cards/ws"),
        ("https://scopa.example", "wss://scopa.example/ws"),
        ("http://scopa.example", "ws://scopa.example/ws"),
        ("WSS://scopa.example", "wss://scopa.example/ws"),
        ("ws://[::1]:8765", "ws://[::1]:8765/ws"),
        ("[fe80::1]:8765", "ws://[fe80::1]:8765/ws"),
        ("wss://müller.example", "wss://müller.example/ws"),
    ],
)
def test_an_endpoint(server: str, url: str) -> None:
    assert endpoint(server) == url
    assert endpoint(url) == url


@pytest.mark.parametrize(
    "server",
    [
        "",
        "ws://",
        "ws:///base",
        "ftp://scopa.example",
        "mailto:anna@scopa.example",
        "ws://scopa.example:port",
        "ws://scopa.example:0",
        "ws://scopa.example:65536",
        "ws://[::1",
        "::1",
        "ws://anna:secret@scopa.example",
        "ws://scopa.example?room=1",
        "ws://scopa.example#room",
        "ws://scopa example",
        "ws://scopa.example\n",
        "ws://scopa.example/\x1b[2J",
        "ws://scopa.example\\base",
        "ws://scopa.example/;reboot",
        "ws://$(id)",
        "ws://`id`",
        "ws://scopa.example/a|b",
        "ws://scopa.example/'",
    ],
)
def test_no_endpoint(server: str) -> None:
    with pytest.raises(ValueError, match="a server is written ws://host:port or wss://host"):
        endpoint(server)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("ws://127.0.0.1:8765", "ws://127.0.0.1:8765/ws"),
        ("wss://scopa.example", "wss://scopa.example/ws"),
        ("wss://scopa.example/", "wss://scopa.example/ws"),
        ("wss://scopa.example/cards", "wss://scopa.example/cards/ws"),
        ("ws://[::1]:8765/base", "ws://[::1]:8765/base/ws"),
    ],
)
def test_an_invite_is_read_as_it_was_written(base: str, url: str) -> None:
    assert read_invite(write_invite(base, CODE)) == Invite(url, CODE)


@pytest.mark.parametrize(
    "text",
    [
        "wss://scopa.example/krtn-wxyz",
        "WSS://scopa.example/KRTNWXYZ/",
        "  https://scopa.example/KRTNWXYZ\n",
    ],
)
def test_an_invite_is_read_as_people_paste_it(text: str) -> None:
    assert read_invite(text) == Invite("wss://scopa.example/ws", CODE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "wss://scopa.example",
        "wss://scopa.example/",
        "wss://scopa.example/lobby",
        "wss://scopa.example/KRTNWXYZ?x=1",
        "scopa.example/KRTNWXYZ",
        "wss:///KRTNWXYZ",
        "ftp://scopa.example/KRTNWXYZ",
        "wss://anna:secret@scopa.example/KRTNWXYZ",
        "come and play",
    ],
)
def test_no_invite(text: str) -> None:
    with pytest.raises(ValueError, match="wss://host"):
        read_invite(text)


@given(st.text(alphabet=CODE_ALPHABET, min_size=CODE_LENGTH, max_size=CODE_LENGTH), st.text())
def test_whatever_is_pasted_it_is_an_invite_or_a_value_error(code: str, junk: str) -> None:
    assert read_invite(f"ws://host/{code.lower()}").code == code
    try:
        invite = read_invite(junk)
    except ValueError:
        return
    assert read_code(invite.code) == invite.code

"""What the end of a connection means, in words."""

import ssl

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import InvalidMessage, InvalidStatus, InvalidURI
from websockets.http11 import Response

from scopa_cli.closing import verdict
from scopa_cli.dial import fault_ending, proxy_for
from scopa_protocol.codes import FINAL_CLOSES, CloseCode
from scopa_protocol.frames import Bye

AT = "wss://scopa.example/ws"


@pytest.mark.parametrize("code", list(CloseCode))
def test_every_close_has_a_sentence(code: CloseCode) -> None:
    ending = verdict(code, None)
    assert ending.why.endswith(".")
    assert ending.retry == (code not in FINAL_CLOSES and code != CloseCode.LEFT)


@pytest.mark.parametrize("code", [CloseCode.SEAT_LOST, CloseCode.ROOM_CLOSED])
def test_who_lost_the_seat_is_told_how_to_get_another(code: CloseCode) -> None:
    ending = verdict(code, None)
    assert ending.seat_gone
    _happened, advice = ending.why.split(": ")
    assert "take" in advice or "ask" in advice


def test_goodbyes_are_passed_on_and_obeyed() -> None:
    bye = Bye(code="of_tomorrow", message="Too late tonight.", retry=False)
    assert verdict(1012, bye).why == "Too late tonight."
    assert not verdict(1012, bye).retry
    assert not verdict(4003, Bye(code="x", message="", retry=True)).retry
    assert verdict(None, None).retry


def refused(status: int) -> InvalidStatus:
    """A handshake answered with this status."""
    return InvalidStatus(Response(status, "", Headers()))


@pytest.mark.parametrize(
    ("fault", "piece", "retry"),
    [
        (refused(404), "no Scopa server (HTTP 404)", False),
        (refused(400), "no Scopa server (HTTP 400)", False),
        (refused(503), "busy or restarting (HTTP 503)", True),
        (refused(429), "busy or restarting (HTTP 429)", True),
        (InvalidURI(AT, "no"), "is no address of a server", False),
        (InvalidMessage("no"), "check whether it is ws:// or wss://", True),
        (ConnectionRefusedError(), "nothing listens there", True),
        (ConnectionResetError(), "check whether it is ws:// or wss://", True),
        (OSError("Multiple exceptions: [Errno 111] Connect call failed"), "nothing listens", True),
        (OSError(113, "No route to host"), "No route to host", True),
        (TimeoutError(), "it doesn't answer", True),
        (ssl.SSLError("wrong version number"), "doesn't speak TLS", False),
        (ssl.SSLCertVerificationError(), "can't be trusted", False),
    ],
)
def test_failed_calls_say_what_to_check(fault: Exception, piece: str, *, retry: bool) -> None:
    if isinstance(fault, ssl.SSLCertVerificationError):
        fault.verify_message = "self-signed certificate"
    ending = fault_ending(AT, fault)
    assert piece in ending.why
    assert ending.retry == retry


def test_a_proxy_is_not_asked_for_this_machine() -> None:
    for host in ("127.0.0.1:8765", "localhost:8765", "[::1]:8765", "a.localhost"):
        assert proxy_for(f"ws://{host}/ws") is None
    assert proxy_for("ws://0.0.0.0:8765/ws") is None
    assert proxy_for(AT) is True
    assert proxy_for("ws://192.168.1.5:8765/ws") is True

"""Which TLS the server speaks."""

import ssl
import warnings
from pathlib import Path

import pytest

from scopa_server.startup import CannotStart
from scopa_server.tls import Certificate

TLS = Path(__file__).parents[1] / "data" / "tls"
OLDEST, NEWEST = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_3


def certificate() -> Certificate:
    """The tests' own."""
    return Certificate(TLS / "cert.pem", TLS / "key.pem")


def spoken(server: ssl.SSLContext, least: ssl.TLSVersion, most: ssl.TLSVersion) -> str | None:
    """The TLS that a client is spoken to in, which would take anything between two versions."""
    client = ssl.create_default_context(cafile=TLS / "cert.pem")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        client.minimum_version, client.maximum_version = least, most
    # Whatever this client's own policy is: it is the server that must refuse.
    client.set_ciphers("ALL:@SECLEVEL=0")
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    asks = client.wrap_bio(down, up, server_hostname="localhost")
    answers = server.wrap_bio(up, down, server_side=True)
    done: set[ssl.SSLObject] = set()
    while len(done) < 2:
        for side in (asks, answers):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            done.add(side)
    return asks.version()


def test_new_tls_is_spoken() -> None:
    context = certificate().context
    assert spoken(context, OLDEST, NEWEST) == "TLSv1.3"
    assert spoken(context, OLDEST, ssl.TLSVersion.TLSv1_2) == "TLSv1.2"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
def test_old_tls_is_not_spoken(version: ssl.TLSVersion) -> None:
    with pytest.raises(ssl.SSLError, match="UNSUPPORTED_PROTOCOL"):
        spoken(certificate().context, version, version)


def test_nobody_asks_for_another_handshake_or_compression() -> None:
    options = certificate().context.options
    assert options & ssl.OP_NO_RENEGOTIATION
    assert options & ssl.OP_NO_COMPRESSION


def test_a_certificate_that_is_gone_is_said() -> None:
    with pytest.raises(CannotStart, match="--tls-cert and --tls-key"):
        Certificate(TLS / "no.pem", TLS / "key.pem")

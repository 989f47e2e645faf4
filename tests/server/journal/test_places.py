"""From a store's URL to the URLs of its servers."""

from urllib.parse import SplitResult, urlsplit

import pytest

from scopa_server.journal import places
from scopa_server.journal.places import Address, Place, read_place

MASTER = Address("10.0.0.7", 6380)


def test_one_server_keeps_its_url() -> None:
    url = "rediss://user:pass@host:6379/3?ssl_cert_reqs=none"
    assert read_place(url) == Place("single", url)


@pytest.mark.parametrize(
    ("url", "seeds"),
    [
        ("redis+cluster://a,b:7000", (("a", 6379), ("b", 7000))),
        ("redis+cluster://[::1]:7000,[::2]/", (("::1", 7000), ("::2", 6379))),
        ("redis+sentinel://a,b:7000/scopa", (("a", 26379), ("b", 7000))),
    ],
)
def test_every_server_has_a_port(url: str, seeds: tuple[tuple[str, int], ...]) -> None:
    assert read_place(url).seeds == seeds


def test_a_list_of_hosts_is_read_by_every_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(url: str) -> SplitResult:
        # As later releases are: brackets only around all of a host.
        if "[" in (parts := urlsplit(url)).netloc and not parts.netloc.startswith("["):
            raise ValueError("Invalid IPv6 URL")
        return parts

    monkeypatch.setattr(places, "urlsplit", strict)
    place = read_place("redis+sentinel://a,[::1]:7000/scopa/2?sentinel_password=pass")
    assert place.seeds == (("a", 26379), ("::1", 7000))
    assert place.at(MASTER).endswith("/2")


@pytest.mark.parametrize(
    ("url", "master", "sentinel"),
    [
        (
            "redis+sentinel://user:p%40ss@a/scopa/3",
            "redis://user:p%40ss@10.0.0.7:6380/3",
            "redis://10.0.0.7:6380/0",
        ),
        (
            "rediss+sentinel://a/scopa?ssl_cert_reqs=none&sentinel_username=eye&sentinel_password=p%40",
            "rediss://10.0.0.7:6380/0?ssl_cert_reqs=none",
            "rediss://eye:p%40@10.0.0.7:6380/0?ssl_cert_reqs=none",
        ),
        (
            "redis+sentinel://a/scopa?sentinel_password=pass",
            "redis://10.0.0.7:6380/0",
            "redis://:pass@10.0.0.7:6380/0",
        ),
    ],
)
def test_sentinels_have_a_password_of_their_own(url: str, master: str, sentinel: str) -> None:
    place = read_place(url)
    assert (place.kind, place.service) == ("sentinel", "scopa")
    assert (place.at(MASTER), place.sentinel_at(MASTER)) == (master, sentinel)


def test_nodes_have_the_password_of_the_cluster() -> None:
    place = read_place("rediss+cluster://:pass@a:1,b:2?ssl_ca_certs=/etc/ca.pem")
    assert place.at(Address("::1", 7)) == "rediss://:pass@[::1]:7/0?ssl_ca_certs=%2Fetc%2Fca.pem"
    assert "pass" not in repr(place)

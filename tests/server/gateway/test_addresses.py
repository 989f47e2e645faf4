"""Who is at the other end, as limits count: a proxy's word counts only if the proxy is trusted."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from ipaddress import ip_network
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs
from websockets.datastructures import Headers

from scopa_server import values
from scopa_server.bounds import SPARABLE, Bounds
from scopa_server.gateway import addresses
from scopa_server.gateway.addresses import Addresses
from support.front import front
from support.house import House
from support.raw import raw

PROXIES = "10.0.0.0/8, 2001:db8:9::/48"
HOPS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40)


def line(address: str | None) -> Any:
    """A line from an address."""
    return SimpleNamespace(remote_address=None if address is None else (address, 5, 0, 0))


def seen(peer: str | None, *forwarded: str, trusted: str = PROXIES) -> str:
    """Who somebody is that comes from `peer` with these headers."""
    known = Addresses(values.networks(trusted) if trusted else ())
    headers = Headers([("X-Forwarded-For", text) for text in forwarded])
    return known.of(line(peer), headers)


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("a pipe", "a pipe"),
        (None, "unknown"),
    ],
)
def test_a_network_of_one_customer_is_one_address(address: str | None, counted: str) -> None:
    assert addresses.direct(line(address)) == counted
    assert seen(address) == counted


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        (["192.0.2.7"], "192.0.2.7"),
        (["192.0.2.7:4711"], "192.0.2.7"),
        (["2001:db8:1:2::3"], "2001:db8:1:2::/64"),
        (["[2001:db8:1:2::3]:4711"], "2001:db8:1:2::/64"),
        (["::ffff:192.0.2.7"], "192.0.2.7"),
        # What a client claims stands left of what the proxies say.
        (["198.51.100.1, 192.0.2.7"], "192.0.2.7"),
        (["198.51.100.1", "192.0.2.7"], "192.0.2.7"),
        (["198.51.100.1,192.0.2.7 , 10.1.2.3"], "192.0.2.7"),
        (["198.51.100.1", "192.0.2.7, 2001:db8:9::1"], "192.0.2.7"),
        # Players behind proxies alone, as in a network of their own.
        (["10.7.7.7"], "10.7.7.7"),
        (["10.7.7.7, 10.1.2.3"], "10.7.7.7"),
        # Nothing, or nothing that can be read: the proxy itself.
        ([], "10.0.0.1"),
        ([""], "10.0.0.1"),
        (["unknown"], "10.0.0.1"),
        (["198.51.100.1, _hidden"], "10.0.0.1"),
        (["198.51.100.1, nonsense, 10.1.2.3"], "10.1.2.3"),
        (["198.51.100.1" + ",10.0.0.2" * 1000], "10.0.0.2"),
    ],
)
def test_a_trusted_proxy_says_who_it_is(forwarded: Sequence[str], client: str) -> None:
    assert seen("10.0.0.1", *forwarded) == client
    assert seen("::ffff:10.0.0.1", *forwarded) == client


@pytest.mark.parametrize("peer", ["192.0.2.9", "11.0.0.1", "::1"])
def test_nobody_else_is_believed(peer: str) -> None:
    assert seen(peer, "198.51.100.1") == seen(peer)
    assert seen(peer, "198.51.100.1", trusted="") == seen(peer)


async def test_limits_tell_players_behind_a_proxy_apart() -> None:
    bounds = Bounds(max_connections_per_address=1, max_failures_per_address=1)
    proxies = values.networks("127.0.0.1")
    guess = {"type": "look", "room": "ABCDEFGH"}
    with capture_logs() as logged:
        async with front(House(bounds=bounds), proxies=proxies) as served:
            anna = {"X-Forwarded-For": "192.0.2.1"}
            bruno = {"X-Forwarded-For": "192.0.2.1, 192.0.2.2"}
            async with (
                raw(served.url, additional_headers=anna) as first,
                raw(served.url, additional_headers=bruno) as second,
                raw(served.url, additional_headers=anna) as third,
            ):
                assert (await third.end())[1] == 1013
                assert await first.refused(guess) == "unknown_room"
                assert await first.refused(guess) == "too_fast"
                assert await second.refused(guess) == "unknown_room"
    assert "proxy_not_trusted" not in [entry["event"] for entry in logged]


async def test_a_proxy_brings_more_lines_than_one_address_may() -> None:
    bounds = Bounds(max_connections_per_address=1)
    async with front(House(bounds=bounds), proxies=values.networks("private")) as served:
        for number in range(30):
            headers = {"X-Forwarded-For": f"192.0.2.{number}"}
            async with raw(served.url, additional_headers=headers) as line:
                assert (await line.frame())["type"] == "hello"


async def test_a_proxy_that_is_not_trusted_is_told_of_once() -> None:
    bounds = Bounds(max_connections_per_address=1)
    with capture_logs() as logged:
        async with front(House(bounds=bounds)) as served:
            for number in (1, 2):
                headers = {"X-Forwarded-For": f"192.0.2.{number}"}
                async with (
                    raw(served.url, additional_headers=headers),
                    raw(served.url, additional_headers={"X-Forwarded-For": "192.0.2.9"}) as other,
                ):
                    assert (await other.end())[1] == 1013
    assert [entry["event"] for entry in logged] == ["proxy_not_trusted"]


# The server's own machine


def is_local(peer: str | None, *headers: str, trusted: str = PROXIES) -> bool:
    """Whether whoever comes from `peer` with these headers is on the server's own machine."""
    known = Addresses(values.networks(trusted) if trusted else ())
    return known.is_local(line(peer), Headers([(name, "192.0.2.7") for name in headers]))


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"])
def test_who_comes_from_a_loopback_address_is_on_the_own_machine(peer: str) -> None:
    assert is_local(peer)
    assert is_local(peer, "User-Agent", "Accept-Language", "X-Forward")


@pytest.mark.parametrize(
    "peer",
    ["192.0.2.7", "10.0.0.1", "128.0.0.1", "::", "fe80::1%lo", "::127.0.0.1", "a pipe", None],
)
def test_nobody_else_is_on_it(peer: str | None) -> None:
    assert not is_local(peer)
    assert not is_local(peer, trusted="")


@pytest.mark.parametrize(
    "header",
    [
        *("X-Forwarded-For", "x-forwarded-proto", "X-FORWARDED-HOST", "Forwarded", "Via"),
        *("X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP", "CDN-Loop"),
    ],
)
def test_whom_a_proxy_speaks_for_is_not_on_it(header: str) -> None:
    assert not is_local("127.0.0.1", header)
    assert not is_local("::1", "User-Agent", header)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST:8765", "127.0.0.1:8765", "127.9.9.9", "[::1]:8765", "[::1]"),
        *("[::ffff:127.0.0.1]", "scopa.localhost:80"),
    ],
)
def test_whoever_names_the_own_machine_may_be_on_it(host: str) -> None:
    known = Addresses(())
    assert known.is_local(line("127.0.0.1"), Headers([("Host", host)]))
    page = Headers([("Host", "127.0.0.1"), ("Origin", f"http://{host}")])
    assert known.is_local(line("127.0.0.1"), page)


@pytest.mark.parametrize(
    "host",
    [
        *("scopa.example.org", "192.0.2.7:8765", "[2001:db8::1]:80", "localhost.example.org"),
        *("abcdefgh.onion", "127.0.0.1.example.org", "", "[", "]", "[::1", ":80", "a.b@c.d"),
    ],
)
def test_whoever_names_another_host_is_not_on_it(host: str) -> None:
    known = Addresses(())
    assert not known.is_local(line("127.0.0.1"), Headers([("Host", host)]))
    page = Headers([("Host", "127.0.0.1"), ("Origin", f"https://{host}")])
    assert not known.is_local(line("127.0.0.1"), page)
    both = Headers([("Host", "127.0.0.1"), ("Host", host)])
    assert not known.is_local(line("127.0.0.1"), both)


@pytest.mark.parametrize("host", ["0.0.0.0:8765", "[::]", "anyhost:8765", "router", "x"])
def test_a_page_of_another_host_of_the_network_is_not_on_it(host: str) -> None:
    known = Addresses(())
    assert known.is_local(line("127.0.0.1"), Headers([("Host", host)]))
    page = Headers([("Host", "127.0.0.1"), ("Origin", f"http://{host}")])
    assert not known.is_local(line("127.0.0.1"), page)


@pytest.mark.parametrize("origin", ["null", "", "file://", "https://scopa.example.org"])
def test_a_page_from_elsewhere_is_not_on_it(origin: str) -> None:
    headers = Headers([("Host", "localhost:8765"), ("Origin", origin)])
    assert not Addresses(()).is_local(line("127.0.0.1"), headers)


@pytest.mark.parametrize("trusted", ["127.0.0.1", "127.0.0.0/8", "private"])
def test_a_trusted_proxy_is_not_on_it_whatever_it_says(trusted: str) -> None:
    assert not is_local("127.0.0.1", trusted=trusted)


def test_an_address_that_a_proxy_tells_of_is_not_on_it() -> None:
    known = Addresses(values.networks(PROXIES))
    headers = Headers([("X-Forwarded-For", "127.0.0.1")])
    assert known.of(line("10.0.0.1"), headers) == "127.0.0.1"
    assert not known.is_local(line("10.0.0.1"), headers)


async def test_the_own_machine_has_as_many_connections_as_it_likes_and_others_do_not() -> None:
    bounds = Bounds(max_connections_per_address=1, spared=SPARABLE)
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(front(House(bounds=bounds)))
        # More than would be let in before their handshake, either.
        for _ in range(30):
            own = await stack.enter_async_context(raw(served.url))
            assert (await own.frame())["type"] == "hello"
        # They count for nobody, so that whom a proxy speaks for is still let in, once.
        headers = {"X-Real-IP": "192.0.2.1"}
        first = await stack.enter_async_context(raw(served.url, additional_headers=headers))
        assert (await first.frame())["type"] == "hello"
        second = await stack.enter_async_context(raw(served.url, additional_headers=headers))
        assert (await second.end())[1] == 1013
    assert not served.gateway._each


async def test_a_trusted_proxys_own_connections_count() -> None:
    bounds = Bounds(max_connections_per_address=1, spared=SPARABLE)
    proxies = values.networks("127.0.0.1")
    async with (
        front(House(bounds=bounds), proxies=proxies) as served,
        raw(served.url) as first,
        raw(served.url) as second,
    ):
        assert (await first.frame())["type"] == "hello"
        assert (await second.end())[1] == 1013


async def test_the_own_machine_fills_the_server_like_anybody() -> None:
    bounds = Bounds(max_connections=1, spared=SPARABLE)
    async with (
        front(House(bounds=bounds)) as served,
        raw(served.url) as first,
        raw(served.url) as second,
    ):
        assert (await first.frame())["type"] == "hello"
        assert (await second.end())[1] == 1013


@given(st.lists(HOPS | st.ip_addresses().map(str), max_size=4))
def test_whatever_stands_in_the_header_is_somebody(forwarded: list[str]) -> None:
    somebody = seen("10.0.0.1", *forwarded)
    assert ip_network(somebody)
    named = Headers([(name, text) for name in ("Host", "Origin") for text in forwarded])
    assert Addresses(()).is_local(line("127.0.0.1"), named) in {True, False}
    assert seen("192.0.2.9", *forwarded) == "192.0.2.9"

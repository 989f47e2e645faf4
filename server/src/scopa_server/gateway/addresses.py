"""Who is at the other end of a line, as limits count."""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers

Network: TypeAlias = IPv4Network | IPv6Network
_Address: TypeAlias = IPv4Address | IPv6Address

FORWARDED: Final = "X-Forwarded-For"
PROXIED: Final = frozenset(
    {
        *("forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip"),
        *("cf-connecting-ip", "cdn-loop"),
    }
)
"""What proxies say of themselves or of whom they speak for, besides `X-Forwarded-…`."""
UNKNOWN: Final = "unknown"
_LONGEST: Final = 100
"""Hops that are looked at; nobody has so many proxies."""


class Addresses:
    """Tells clients from the proxies in front. `trusted`: networks whose word is taken."""

    def __init__(self, trusted: Sequence[Network]) -> None:
        self._trusted = trusted

    def is_proxy(self, line: ServerConnection) -> bool:
        """Whether the other end is a proxy that is trusted."""
        peer = _peer(line)
        return peer is not None and self._trusts(peer)

    def may_be_local(self, line: ServerConnection) -> bool:
        """Whether the other end is on the server's own machine, and no proxy that is trusted."""
        peer = _peer(line)
        return peer is not None and peer.is_loopback and not self._trusts(peer)

    def is_local(self, line: ServerConnection, headers: Headers) -> bool:
        """Whether a client itself is on the server's own machine, as far as can be told.

        Who names another host came through something; a page of one acts for strangers.
        """
        if not self.may_be_local(line) or any(map(_is_proxys, headers)):
            return False
        asked = [f"//{host}" for host in headers.get_all("Host")]
        pages = headers.get_all("Origin")
        return all(map(_names_this_machine, asked)) and all(map(_is_of_this_machine, pages))

    def of(self, line: ServerConnection, headers: Headers) -> str:
        """The client's address: the rightmost in the proxies' header that is no trusted proxy."""
        peer = _peer(line)
        if peer is None:
            return direct(line)
        client = peer
        if self._trusts(peer):
            for hop in _hops(headers):
                # Left of what can't be read nobody's word is known to be a proxy's.
                if hop is None:
                    break
                client = hop
                if not self._trusts(hop):
                    break
        return _counted(client)

    def _trusts(self, address: _Address) -> bool:
        return any(address in network for network in self._trusted)


def direct(line: ServerConnection) -> str:
    """The address at the other end of a line, whoever that is."""
    peer = _peer(line)
    if peer is not None:
        return _counted(peer)
    return str(line.remote_address[0]) if line.remote_address else UNKNOWN


def _peer(line: ServerConnection) -> _Address | None:
    return _read(str(line.remote_address[0])) if line.remote_address else None


def _is_proxys(header: str) -> bool:
    name = header.lower()
    return name in PROXIED or name.startswith("x-forwarded-")


def _names_this_machine(url: str) -> bool:
    """Whether a URL's host is the machine that reads it, or has no name beyond its network."""
    host = _host(url)
    address = _read(host)
    if address is not None:
        return address.is_loopback or address.is_unspecified
    return "." not in host or _is_localhost(host)


def _is_of_this_machine(url: str) -> bool:
    """Whether a URL's host can be nothing but the machine that reads it."""
    host = _host(url)
    address = _read(host)
    return _is_localhost(host) if address is None else address.is_loopback


def _host(url: str) -> str:
    """The host of a URL; "." if it has none."""
    try:
        return urlsplit(url).hostname or "."
    except ValueError:
        return "."


def _is_localhost(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")


def _hops(headers: Headers) -> Iterator[_Address | None]:
    """The addresses of the header from right to left; None for what is none."""
    hops = ",".join(headers.get_all(FORWARDED)).split(",")
    for hop in hops[: -_LONGEST - 1 : -1]:
        yield _read(_without_port(hop.strip()))


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


def _read(text: str) -> _Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _counted(address: _Address) -> str:
    """A network of 64 bits of IPv6 is one customer."""
    if isinstance(address, IPv4Address):
        return str(address)
    return f"{IPv6Address(int(address) >> 64 << 64)}/64"

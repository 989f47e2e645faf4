"""One port for several processes."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


@contextmanager
def reserved(host: str, port: int) -> Generator[int]:
    """Hold a port that only processes of this user can share; 0: any that is free.

    Gives its number; raises OSError if somebody uses it. Nobody connects to the one who holds it:
    it doesn't listen.
    """
    family, _, _, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    if port:
        # Sharing is not asked for here: another server's workers at this port are noticed.
        with _socket(family) as probe:
            probe.bind(address)
    with _held(family, address) as held:
        bound: int = held.getsockname()[1]
        yield bound


def _held(family: int, address: Any) -> socket.socket:
    """A socket that keeps others from the port while no worker listens there yet, or any more.

    Not if connections of a server alone linger there: then others are noticed once workers listen.
    """
    try:
        return _shared(family, address, reuse=False)
    except OSError:
        return _shared(family, address, reuse=True)


def _shared(family: int, address: Any, *, reuse: bool) -> socket.socket:
    made = _socket(family)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        made.bind(address)
    except OSError:
        made.close()
        raise
    return made


def _socket(family: int) -> socket.socket:
    """A socket with the options that asyncio's servers have."""
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    return made

"""Why the server can't start, in a sentence for the operator."""

import errno
import socket
from typing import Final

from scopa_server.journal.interface import NotAdmitted, Unavailable


class CannotStart(Exception):
    """The server can't start. The message says why and what to do; it repeats no secret."""


_WHY: Final = {
    errno.EADDRINUSE: (
        "port {port} on {host} is in use: stop what uses it, or choose another port with {flag}port"
    ),
    errno.EACCES: (
        "port {port} is not for this user: choose a port from 1024 upwards with {flag}port"
    ),
    errno.EADDRNOTAVAIL: (
        "this machine has no address {host}: choose one it has, or 0.0.0.0, with {flag}host"
    ),
}
_OTHERWISE: Final = "port {port} on {host} can't be opened: see {flag}host and {flag}port"

_MOST_OF_WHY: Final = 300
"""Letters of what the other side said, which may be anything."""


def cannot_listen(error: OSError, host: str, port: int, *, admin: bool = False) -> CannotStart:
    """Put the failure to open a port into words; a host that can't be looked up, too."""
    cause = errno.EADDRNOTAVAIL if isinstance(error, socket.gaierror) else error.errno
    words = _WHY.get(cause or 0, _OTHERWISE)
    return CannotStart(words.format(host=host, port=port, flag="--admin-" if admin else "--"))


def cannot_reach(store: str, trouble: Unavailable) -> CannotStart:
    """Say that a store (`Config.store_name`) can't be used, and what is known of why."""
    if isinstance(trouble, NotAdmitted):
        return CannotStart(f"the store {store} {trouble}")
    words = "".join(letter for letter in str(trouble) if letter.isprintable())[:_MOST_OF_WHY]
    asked = f"the store {store} doesn't answer: is it running, and is --store right?"
    return CannotStart(f"{asked} ({words})")

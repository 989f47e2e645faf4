"""Invite codes and invites: `wss://host/CODE` is the room CODE at `wss://host/ws`."""

from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

from msgspec import Struct

CODE_ALPHABET: Final = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
CODE_LENGTH: Final = 8
DEFAULT_PORT: Final = 8765

_SCHEMES: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}
_NOT_IN_A_SERVER: Final = frozenset(" ?#@\\" + "$`;&|<>()*!'\"{}^")
"""No space, query, fragment or user:password@ stands in a server's address, nor what a shell
would follow: people paste invites into one."""


class Invite(Struct, frozen=True):
    """A room and, unless only its code was given, the endpoint to reach it at."""

    endpoint: str | None
    code: str


def read_code(text: str) -> str | None:
    """A code as it is stored, read without regard to case and dashes; None if it is none."""
    bare = text.strip().replace("-", "").replace(" ", "")
    code = bare.upper()
    # Upper case may lengthen what isn't ASCII: a sharp s is no SS.
    written = len(bare) == CODE_LENGTH and bare.isascii() and set(code) <= set(CODE_ALPHABET)
    return code if written else None


def endpoint(server: str) -> str:
    """The WebSocket endpoint of a server named as `ws(s)://host[:port][/base]` or `host[:port]`.

    Raises ValueError, in words, for anything else.
    """
    parts = _split(server if "://" in server else f"ws://{server}")
    scheme = _SCHEMES.get(parts.scheme) if parts else None
    if parts is None or scheme is None:
        raise ValueError("a server is written ws://host:port or wss://host")
    path = parts.path.rstrip("/").removesuffix("/ws")
    return urlunsplit((scheme, parts.netloc, f"{path}/ws", "", ""))


def _split(url: str) -> SplitResult | None:
    """The parts of a plain URL: a host, a sound port, and nothing behind the path."""
    if not url.isprintable() or not _NOT_IN_A_SERVER.isdisjoint(url):
        return None
    try:
        parts = urlsplit(url)
        sound = parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if sound else None


def write_invite(base: str, code: str) -> str:
    """The one string to paste: `base` is `ws(s)://host[:port][/base]`."""
    return f"{base.rstrip('/')}/{code}"


def read_invite(text: str) -> Invite:
    """An invite or a bare code. Raises ValueError, in words, if it is neither."""
    bare = read_code(text)
    if bare:
        return Invite(None, bare)
    head, slash, tail = text.strip().rstrip("/").rpartition("/")
    code = read_code(tail)
    if not slash or "://" not in head or code is None:
        raise ValueError("that is no invite: it looks like wss://host/ABCD2345, or ABCD2345 alone")
    return Invite(endpoint(head), code)

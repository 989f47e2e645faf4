"""Invite codes and invites: `wss://host/CODE` is the room CODE at `wss://host/ws`."""

from typing import Final
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

CODE_ALPHABET: Final = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
CODE_LENGTH: Final = 8
DEFAULT_PORT: Final = 8765


class Invite(Struct, frozen=True):
    """A room and, unless only its code was given, the endpoint to reach it at."""

    endpoint: str | None
    code: str


def read_code(text: str) -> str | None:
    """A code as it is stored, read without regard to case and dashes; None if it is none."""
    code = text.strip().upper().replace("-", "").replace(" ", "")
    if len(code) != CODE_LENGTH or any(char not in CODE_ALPHABET for char in code):
        return None
    return code


def endpoint(server: str) -> str:
    """The WebSocket endpoint of a server named as `ws(s)://host[:port][/base]` or `host[:port]`.

    Raises ValueError, in words, for anything else.
    """
    parts = urlsplit(server if "://" in server else f"ws://{server}")
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    if scheme not in {"ws", "wss"} or not parts.hostname:
        raise ValueError("a server is written ws://host:port or wss://host")
    path = parts.path.rstrip("/").removesuffix("/ws")
    return urlunsplit((scheme, parts.netloc, f"{path}/ws", "", ""))


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

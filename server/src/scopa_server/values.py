"""What an option's text stands for. Each reader raises ValueError: what the text must be.

The words follow the option's name ("--port must be …") and never repeat the text, which may be a
secret given in the wrong place.
"""

import re
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

Network: TypeAlias = IPv4Network | IPv6Network

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST = 3650 * _SECONDS["d"]
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,252}[A-Za-z0-9.])?")
STORES = (
    "sqlite:PATH, redis://HOST:PORT/DB, rediss://HOST:PORT/DB, unix:///SOCKET, "
    "redis+sentinel://HOST:PORT,HOST:PORT/SERVICE or redis+cluster://HOST:PORT,HOST:PORT"
)
_STORE_SCHEMES = {
    "sqlite",
    "unix",
    *(f"{redis}{kind}" for redis in ("redis", "rediss") for kind in ("", "+sentinel", "+cluster")),
}
_PUBLIC = "must be ws://HOST[:PORT][/BASE] or wss://HOST[:PORT][/BASE]"
_ORIGIN = "must be https://HOST[:PORT] or http://HOST[:PORT], several separated by commas"


_PRIVATE: Final = (
    "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"
)  # fmt: skip


def number(low: int, high: int, note: str = "") -> Callable[[str], int]:
    """Read a whole number within bounds."""
    wrong = f"must be a number from {low} to {high}{note}"

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= len(str(high))):
            raise ValueError(wrong)
        if not low <= int(text) <= high:
            raise ValueError(wrong)
        return int(text)

    return read


def port(text: str) -> int:
    """Read a port to listen at; 0 asks for any that is free."""
    if text.startswith("tcp://"):
        # What Kubernetes sets for a Service of that name, in every pod beside it.
        raise ValueError(
            "was set by Kubernetes for a Service: give the pod `enableServiceLinks: false`"
        )
    return number(0, 65535, " (0 = any free port)")(text)


AUTO: Final = "auto"


def admin_port(text: str) -> int | Literal["auto"] | None:
    """Read a port, `auto` for one beside the players' port, or `off` for none."""
    if text == "off":
        return None
    if text == AUTO:
        return AUTO
    try:
        return port(text)
    except ValueError as error:
        raise ValueError(f"{error}, auto or off") from None


def host(text: str) -> str:
    """Read an address to listen at: a name, or an IPv4 or IPv6 address."""
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if _HOST.fullmatch(bare) or _is_address(bare):
        return bare
    raise ValueError("must be an address or host name alone, such as 127.0.0.1, 0.0.0.0 or ::")


def duration(text: str) -> int:
    """Read a time as seconds: `90s`, `15m`, `24h`, `30d`."""
    digits, unit = text[:-1], text[-1:]
    known = digits.isascii() and digits.isdecimal() and len(digits) <= 9 and unit in _SECONDS
    seconds = int(digits) * _SECONDS[unit] if known else 0
    if not 1 <= seconds <= _LONGEST:
        raise ValueError("must be a time with its unit, from 1s to 3650d: 90s, 15m, 24h, 30d")
    return seconds


def one_of(*words: str) -> Callable[[str], str]:
    """Read one of a few words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return text

    return read


def store(text: str) -> str:
    """Read a store's URL, only so far as to tell its kind; the journal reads the rest."""
    scheme, colon, rest = text.partition(":")
    if scheme not in _STORE_SCHEMES or not colon or not rest:
        raise ValueError(f"must be {STORES}")
    if not text.isprintable():
        raise ValueError("must hold no control characters")
    return text


def access_key(text: str) -> str:
    """Read the key that hosting a room asks for."""
    if not text.isprintable() or len(text) > 256:
        raise ValueError("must be at most 256 printable characters on one line")
    return text


def public_url(text: str) -> str:
    """Read the address that players reach the server at, without a closing slash or `/ws`."""
    parts = _split(text)
    if parts is None or parts.scheme not in {"ws", "wss"} or parts.query or parts.fragment:
        raise ValueError(_PUBLIC)
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"must hold no user name or password: it {_PUBLIC}")
    base = parts.path.rstrip("/").removesuffix("/ws").rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{base}"


def origins(text: str) -> tuple[str, ...]:
    """Read browser origins as browsers write them: lower case, without the usual port."""
    found = tuple(_origin(word) for word in text.replace(",", " ").split())
    if not found:
        raise ValueError(_ORIGIN)
    return found


def networks(text: str) -> tuple[Network, ...]:
    """Read addresses and networks; `private` is loopback and every private network."""
    words = [
        each
        for word in text.replace(",", " ").split()
        for each in (_PRIVATE if word == "private" else (word,))
    ]
    try:
        found = tuple(ip_network(word) for word in words)
    except ValueError:
        found = ()
    if not found:
        raise ValueError(
            "must be an address, a network such as 10.0.0.0/8, or private; "
            "several separated by commas"
        )
    return found


def readable_file(text: str) -> Path:
    """Read the path of a file, and see that it can be opened."""
    path = Path(text)
    try:
        with path.open("rb") as file:
            file.read(1)
    except (OSError, ValueError):
        raise ValueError("must name a file that the server can read") from None
    return path


def _origin(word: str) -> str:
    parts = _split(word)
    if parts is None or parts.scheme not in {"http", "https"} or parts.path not in {"", "/"}:
        raise ValueError(_ORIGIN)
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError(_ORIGIN)
    usual = {"http": ":80", "https": ":443"}[parts.scheme]
    return f"{parts.scheme}://{parts.netloc.lower().removesuffix(usual)}"


def _split(text: str) -> SplitResult | None:
    """The parts of a URL in ASCII that has a host and no odd port; None for anything else."""
    if not (text.isascii() and text.isprintable()) or " " in text:
        return None
    try:
        parts = urlsplit(text)
        usable = bool(parts.hostname) and parts.port != 0 and not parts.netloc.endswith(":")
    except ValueError:
        return None
    return parts if usable else None


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True

"""From a store's URL to where its servers are. Messages never repeat it: it may hold a password."""

import re
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

FORMS: Final = (
    "sqlite:PATH, redis://HOST:PORT/DB, rediss://… or unix:///SOCKET?db=DB, "
    "redis+sentinel://HOST:PORT,…/SERVICE/DB or redis+cluster://HOST:PORT,…"
)
_TLS_OPTIONS: Final = {
    "ssl_ca_certs",
    "ssl_ca_path",
    "ssl_certfile",
    "ssl_keyfile",
    "ssl_cert_reqs",
    "ssl_check_hostname",
}
_SENTINEL_OPTIONS: Final = {"sentinel_username", "sentinel_password"}
_PORTS: Final = {"sentinel": 26379, "cluster": 6379}
_SERVICE: Final = re.compile(r"[A-Za-z0-9._-]+")
_LIST: Final = re.compile(r"(?P<before>[^:]*://)(?P<hosts>[^/?#]*)(?P<after>.*)", re.DOTALL)
Kind = Literal["single", "sentinel", "cluster"]


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int


@dataclass(frozen=True, slots=True, repr=False)
class Place:
    """A Redis of any kind: the URL of one server, or how to reach those that are found later."""

    kind: Kind
    url: str = ""
    seeds: tuple[Address, ...] = ()
    """The sentinels, or some nodes of the cluster."""
    service: str = ""
    _scheme: str = "redis"
    _user: str = ""
    _database: str = "0"
    _options: str = ""
    _sentinels_user: str = ""

    def at(self, server: Address) -> str:
        """The URL of a server that holds rooms."""
        return self._one(self._user, server, self._database)

    def sentinel_at(self, server: Address) -> str:
        """The URL of a sentinel."""
        return self._one(self._sentinels_user, server, "0")

    def _one(self, user: str, server: Address, database: str) -> str:
        host = f"[{server.host}]" if ":" in server.host else server.host
        netloc = f"{user}{host}:{server.port}"
        return urlunsplit((self._scheme, netloc, f"/{database}", self._options, ""))


def read_place(url: str) -> Place:
    """Read the URL of a Redis; raises ValueError."""
    scheme, _, kind = url.partition(":")[0].partition("+")
    if scheme not in {"redis", "rediss", "unix"} or (kind and kind not in _PORTS):
        raise ValueError(f"the store's URL must be {FORMS}")
    try:
        parts = _split(url, kind)
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True))
        place = _read(scheme, kind, url, parts, options)
    except ValueError as error:
        # Only our own messages are fit to be seen: the others quote what they were given.
        raise ValueError(
            _fit(error) or f"the store's URL can't be read; it must be {FORMS}"
        ) from None
    return place


def _split(url: str, kind: str) -> SplitResult:
    if not kind:
        return urlsplit(url)
    # Python's later releases refuse a list of hosts for the brackets of a second one's IPv6.
    match = _LIST.fullmatch(url)
    if match is None:
        raise ValueError
    return urlsplit(f"{match['before']}hosts{match['after']}")._replace(netloc=match["hosts"])


class _Wrong(ValueError):
    """What is wrong, in words that repeat nothing."""


def _fit(error: ValueError) -> str:
    return str(error) if isinstance(error, _Wrong) else ""


def _read(scheme: str, kind: str, url: str, parts: SplitResult, options: dict[str, str]) -> Place:
    if parts.fragment:
        raise ValueError
    _check_options(scheme, kind, options)
    if kind == "sentinel":
        return _sentinels(scheme, parts, options)
    if kind == "cluster":
        return _cluster(scheme, parts, options)
    if not _names_a_server(parts):
        raise ValueError
    return Place("single", url)


def _check_options(scheme: str, kind: str, options: dict[str, str]) -> None:
    known: set[str] = set() if kind else {"db"}
    if scheme == "rediss":
        known |= _TLS_OPTIONS
    if kind == "sentinel":
        known |= _SENTINEL_OPTIONS
    if not options.keys() <= known:
        names = ", ".join(sorted(known)) or "none"
        raise _Wrong(f"the store's URL may have these options: {names}")
    if not options.get("db", "0").isdecimal():
        raise _Wrong("the store's database must be a number")


def _names_a_server(parts: SplitResult) -> bool:
    if parts.scheme == "unix":
        return parts.path.startswith("/")
    database = parts.path.removeprefix("/")
    return bool(parts.hostname) and parts.port != 0 and (not database or database.isdecimal())


def _sentinels(scheme: str, parts: SplitResult, options: dict[str, str]) -> Place:
    service, _, database = parts.path.removeprefix("/").partition("/")
    if not _SERVICE.fullmatch(service) or not (database or "0").isdecimal():
        raise _Wrong("the store's URL must be redis+sentinel://HOST:PORT,HOST:PORT/SERVICE[/DB]")
    user, seeds = _seeds(parts.netloc, _PORTS["sentinel"])
    theirs = [options.pop(name, "") for name in ("sentinel_username", "sentinel_password")]
    return Place(
        "sentinel",
        seeds=seeds,
        service=service,
        _scheme=scheme,
        _user=user,
        _database=database or "0",
        _options=urlencode(options),
        _sentinels_user=_user_part(*theirs),
    )


def _cluster(scheme: str, parts: SplitResult, options: dict[str, str]) -> Place:
    if parts.path.removeprefix("/") not in {"", "0"}:
        raise _Wrong("a Redis Cluster has no databases: leave the path of the store's URL out")
    user, seeds = _seeds(parts.netloc, _PORTS["cluster"])
    return Place("cluster", seeds=seeds, _scheme=scheme, _user=user, _options=urlencode(options))


def _seeds(netloc: str, port: int) -> tuple[str, tuple[Address, ...]]:
    """The user and password as they stand in the URL, and the servers."""
    user, at, servers = netloc.rpartition("@")
    return user + at, tuple(_address(server, port) for server in servers.split(","))


def _address(server: str, usual: int) -> Address:
    parts = urlsplit(f"//{server}")
    if not parts.hostname or parts.port == 0 or "@" in server:
        raise ValueError
    return Address(parts.hostname, parts.port or usual)


def _user_part(name: str, password: str) -> str:
    return f"{quote(name, '')}:{quote(password, '')}@" if name or password else ""

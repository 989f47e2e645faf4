"""From a URL to a journal. Each kind of store is imported only when it is named."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, urlsplit

from scopa_server.journal.interface import Journal

_FORMS = "sqlite:PATH, redis://HOST:PORT/DB, rediss://… or unix:///SOCKET?db=DB"
_TLS_OPTIONS = {
    "ssl_ca_certs",
    "ssl_ca_path",
    "ssl_certfile",
    "ssl_keyfile",
    "ssl_cert_reqs",
    "ssl_check_hostname",
}


async def open_journal(url: str, *, clock: Callable[[], int] | None = None) -> Journal:
    """Open the store that a URL names; `clock` (milliseconds) replaces this machine's.

    Raises ValueError for a wrong URL, never repeating it: it may hold a password. Raises
    `StoreRefused` for an unsound SQLite file or one in use. A Redis is connected to when first
    needed: `ping` and `check` tell how it is.
    """
    scheme, _, rest = url.partition(":")
    if scheme == "sqlite":
        return await _open_sqlite(rest, clock)
    if scheme in ("redis", "rediss", "unix"):
        _check(url)
        return _open_redis(url)
    raise ValueError(f"the store's URL must be {_FORMS}")


async def _open_sqlite(path: str, clock: Callable[[], int] | None) -> Journal:
    if not path or path.startswith(":") or (path.startswith("//") and path[2:3] != "/"):
        raise ValueError("the store's URL must name a file: sqlite:PATH")
    from scopa_server.journal.sqlite import SqliteJournal, wall_clock

    return await SqliteJournal.open(Path(path), clock or wall_clock)


def _open_redis(url: str) -> Journal:
    from scopa_server.journal.redis import RedisJournal

    return RedisJournal(url)


def _check(url: str) -> None:
    try:
        parts = urlsplit(url)
        port = parts.port
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True))
    except ValueError:
        # Their messages quote what they were given.
        parts, port, options = None, None, {}
    if parts is None or parts.fragment or port == 0 or not _names_a_place(parts):
        raise ValueError(f"the store's URL can't be read; it must be {_FORMS}")
    known = {"db", *(_TLS_OPTIONS if parts.scheme == "rediss" else ())}
    if not options.keys() <= known:
        raise ValueError(f"the store's URL may have these options: {', '.join(sorted(known))}")
    if not options.get("db", "0").isdecimal():
        raise ValueError("the store's database must be a number")


def _names_a_place(parts: SplitResult) -> bool:
    if parts.scheme == "unix":
        return parts.path.startswith("/")
    database = parts.path.removeprefix("/")
    return bool(parts.hostname) and (not database or database.isdecimal())

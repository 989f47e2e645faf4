"""From a URL to a journal. Each kind of store is imported only when it is named."""

from collections.abc import Callable
from pathlib import Path

from scopa_server.journal.interface import Journal
from scopa_server.journal.places import Place, read_place


async def open_journal(url: str, *, clock: Callable[[], int] | None = None) -> Journal:
    """Open the store that a URL names; `clock` (milliseconds) replaces this machine's.

    Raises ValueError for a wrong URL, never repeating it: it may hold a password. Raises
    `StoreRefused` for an unsound SQLite file or one in use. A Redis is connected to when first
    needed: `ping` and `check` tell how it is.
    """
    scheme, _, rest = url.partition(":")
    if scheme == "sqlite":
        return await _open_sqlite(rest, clock)
    return _open_redis(read_place(url))


async def _open_sqlite(path: str, clock: Callable[[], int] | None) -> Journal:
    if not path or path.startswith(":") or (path.startswith("//") and path[2:3] != "/"):
        raise ValueError("the store's URL must name a file: sqlite:PATH")
    from scopa_server.journal.sqlite import SqliteJournal, wall_clock

    return await SqliteJournal.open(Path(path), clock or wall_clock)


def _open_redis(place: Place) -> Journal:
    from scopa_server.journal.redis_journal import RedisJournal

    return RedisJournal(place)

"""The log of every room: appended to, read, watched; in SQLite or in Redis."""

from scopa_server.journal.interface import (
    KEY_BYTES,
    LOOK,
    LOST,
    Commit,
    Draft,
    Journal,
    Snapshot,
    Stored,
    StoreRefused,
    Taken,
    Touch,
    Unavailable,
    Unresolved,
)
from scopa_server.journal.opening import open_journal

__all__ = [
    "KEY_BYTES",
    "LOOK",
    "LOST",
    "Commit",
    "Draft",
    "Journal",
    "Snapshot",
    "StoreRefused",
    "Stored",
    "Taken",
    "Touch",
    "Unavailable",
    "Unresolved",
    "open_journal",
]

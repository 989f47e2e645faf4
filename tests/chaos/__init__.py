"""Faults caused on purpose: real servers, a real Redis, people at tables, and what must hold.

`kept`: no play that anyone was shown is gone or doubled. `agree`: every seat's and a watcher's
view, on every server, is what the store's log folds to. `on`: every room goes on or says why.
`clean`: once all have left, no task, connection, room, subscription or file is left over.
"""

from typing import Final

from . import clients, files, networks, servers, stores
from .scene import Fault

FAULTS: Final[tuple[Fault, ...]] = (
    *servers.FAULTS,
    *stores.FAULTS,
    *networks.FAULTS,
    *clients.FAULTS,
    *files.FAULTS,
)

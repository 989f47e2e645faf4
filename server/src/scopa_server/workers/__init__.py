"""Several server processes at one port of one machine, and the one that looks after them."""

from typing import Final

WORKER: Final = "--worker"
"""How a supervisor calls the processes it looks after; nobody else needs it."""

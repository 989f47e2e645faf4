"""Which node of a Redis Cluster has which slots."""

from typing import Any

from scopa_server.journal.places import Address
from scopa_server.journal.scripts import SLOTS


class Slots:
    """A map from slots to the addresses of their masters; empty until it was read."""

    def __init__(self) -> None:
        self._owners: list[Address | None] = [None] * SLOTS

    def owner(self, slot: int) -> Address | None:
        """Who has a slot, as far as is known."""
        return self._owners[slot]

    def move(self, slot: int, owner: Address) -> None:
        """A slot has gone to another node."""
        self._owners[slot] = owner

    @property
    def masters(self) -> list[Address]:
        """Every node that has slots, each once."""
        return [owner for owner in dict.fromkeys(self._owners) if owner is not None]

    def read(self, answer: Any, asked: Address) -> None:
        """Take over the answer to CLUSTER SLOTS that `asked` gave.

        An endpoint that isn't named is that of the one who was asked. Slots that nobody has keep
        the owner they had: a node that has failed may come back.
        """
        for first, last, master, *_ in answer:
            host = (master[0] or b"").decode()
            owner = Address(host if host not in {"", "?"} else asked.host, int(master[1]))
            self._owners[first : last + 1] = [owner] * (last - first + 1)

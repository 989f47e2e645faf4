"""Connections that other workers hand over: places kept for them, and how they begin here."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable
from functools import partial

from scopa_server.metrics import Handed, Metrics, Refusal

from .handover import Handover, Movable


class Arrivals:
    """Those that are expected. `full`: why an address has no place, or None.

    `opened` makes the connection that a handover tells of, without a line yet.
    """

    def __init__(
        self,
        full: Callable[[str], Refusal | None],
        opened: Callable[[Handover], Movable],
        metrics: Metrics,
    ) -> None:
        self._full = full
        self._opened = opened
        self._metrics = metrics
        self.places: Counter[str] = Counter()
        """How many are kept, by address."""

    def expect(self, address: str) -> Handed | None:
        """Keep a place for a connection of that address; why not, or None."""
        full = self._full(address)
        if full is None:
            self.places[address] += 1
            return None
        return Handed.FULL if full is Refusal.FULL else Handed.ADDRESS_FULL

    def dismiss(self, address: str) -> None:
        """Keep it no more."""
        self.places -= Counter((address,))

    async def take_in(self, line: socket.socket, came: Handover) -> None:
        """Go on with a connection that a place was kept for. Raises OSError."""
        made = self._opened(came)
        made.place = partial(self._settled, came.address)
        try:
            line.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.connect_accepted_socket(lambda: made, line)
        except BaseException:
            made.settle(served=False)
            raise

    def _settled(self, address: str, served: bool) -> None:
        self.dismiss(address)
        if not served:
            # Its line was lost on the way: whoever accepted it has counted no end.
            self._metrics.arrived()
            self._metrics.disconnected(None)

"""Connections that other workers hand over: places kept for them, and how they begin here."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable
from functools import partial

from scopa_server.metrics import Handed, Metrics, Refusal

from .handover import Handover, Movable


class Arrivals:
    """Those that are expected. `full`: why who is counted so has no place, or None.

    `opened` makes the connection that a handover tells of, without a line yet; `fewer` is called
    whenever a place is kept no more.
    """

    def __init__(
        self,
        full: Callable[[str | None], Refusal | None],
        opened: Callable[[Handover], Movable],
        metrics: Metrics,
        fewer: Callable[[], None],
    ) -> None:
        self._full = full
        self._opened = opened
        self._metrics = metrics
        self._fewer = fewer
        self.places: Counter[str | None] = Counter()
        """How many are kept, by what they are counted by."""

    def expect(self, counted: str | None) -> Handed | None:
        """Keep a place for a connection that is counted so; why not, or None."""
        full = self._full(counted)
        if full is None:
            self.places[counted] += 1
            return None
        return Handed.FULL if full is Refusal.FULL else Handed.ADDRESS_FULL

    def dismiss(self, counted: str | None) -> None:
        """Keep it no more."""
        self.places -= Counter((counted,))
        self._fewer()

    async def take_in(self, line: socket.socket, came: Handover) -> None:
        """Go on with a connection that a place was kept for. Raises OSError."""
        made = self._opened(came)
        made.place = partial(self._settled, came.counted)
        try:
            line.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.connect_accepted_socket(lambda: made, line)
        except BaseException:
            made.settle(served=False)
            raise

    def _settled(self, counted: str | None, served: bool) -> None:
        self.dismiss(counted)
        if not served:
            # Its line was lost on the way: whoever accepted it has counted no end.
            self._metrics.arrived()
            self._metrics.disconnected(None)

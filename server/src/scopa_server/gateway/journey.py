"""When a connection goes to another worker, and what it takes along."""

from collections.abc import Callable
from typing import Final

from scopa_protocol import commands as c
from scopa_server.allowance import Allowance
from scopa_server.live.visitor import Visitor
from scopa_server.metrics import Handed

from .handover import Handover, Movable
from .idling import Idling
from .neighbours import Neighbours

MOVES: Final = 8
"""How often a connection may go to another worker at once; then one more each so many seconds."""
MOVE_SECONDS: Final = 10.0


class Journey:
    """One connection's. `pace`: the allowance of its frames; `now`: the time by which that goes."""

    def __init__(
        self,
        neighbours: Neighbours,
        line: Movable,
        visitor: Visitor,
        pace: Allowance,
        idling: Idling,
        now: Callable[[], float],
    ) -> None:
        self._neighbours = neighbours
        self._line = line
        self._visitor = visitor
        self._pace = pace
        self._idling = idling
        self._now = now
        self._moves = Allowance(MOVES, MOVE_SECONDS)
        if line.came is not None:
            self._moves.use(line.came.moves, now())

    async def leads_on(self, command: c.ClientCommand, data: str | bytes, flood: int) -> bool:
        """Let another worker follow a command whose room is at home there, and all that comes.

        `data`: the command's message. If true, the connection has gone.
        """
        to, now = self._neighbours.where(command), self._now()
        # In a room it stays; and what is too much is refused where it comes.
        if to is None or self._visitor.room is not None or self._pace.wait(now):
            return False
        if self._moves.wait(now):
            self._neighbours.note(Handed.OFTEN)
            return False

        def packed() -> Handover:
            return self._packed(data, flood)

        def stays() -> bool:
            return self._visitor.outbox.closing is not None

        return await self._neighbours.hand_over(self._line, to, packed, stays)

    def _packed(self, data: str | bytes, flood: int) -> Handover:
        line, now = self._line, self._now()
        idle, stays = self._idling.left
        return Handover(
            id=line.id.bytes,
            subprotocol=line.subprotocol,
            address=self._visitor.address,
            local=self._visitor.local,
            counted=self._visitor.counted,
            invite_base=self._visitor.invite_base,
            received=line.unread(data),
            idle=idle,
            stays=stays,
            flood=flood,
            pace=self._pace.used(now),
            control_pace=line.control_pace,
            moves=self._moves.used(now) + MOVE_SECONDS,
        )

"""Commands of those at a table, followed: cards at once where nothing else is under way."""

import contextvars
from collections.abc import Callable

import structlog

from scopa_protocol import commands as c
from scopa_server.room.decide.internal import CameBack
from scopa_server.room.refused import Refused

from .answers import Answers, gone, our_fault, restarting
from .door import Door
from .growth import CARDS, Growth
from .history import Historian
from .inbox import Ask
from .ledger import Begun, RoomGone, RoomLost
from .table import Table
from .visitor import Visitor

log = structlog.stdlib.get_logger()


class Clerk:
    """Follows the commands of one room, and answers them."""

    def __init__(
        self, table: Table, answers: Answers, historian: Historian, growth: Growth, door: Door
    ) -> None:
        self._table = table
        self._answers = answers
        self._historian = historian
        self._growth = growth
        self._door = door

    async def follow(self, ask: Ask) -> None:
        """Follow a command in the room's task. Raises RoomLost, and whatever is our fault."""
        try:
            if ask.visitor in self._table.audience:
                await self._follow(ask)
        finally:
            ask.visitor.asked -= 1

    async def _follow(self, ask: Ask) -> None:
        visitor, command = ask.visitor, ask.command
        if isinstance(command, c.History):
            self._historian.ask(visitor, command)
            return
        try:
            allowed = self._growth.allows(visitor, command)
            heard = await self._table.commit(
                visitor, command, ask.passcode, allowed, begun=ask.begun
            )
        except Refused as refusal:
            self._answers.refuse(visitor, command, refusal)
            await self._acts(visitor)
            return
        except RoomLost as fault:
            lost = gone(command) if isinstance(fault, RoomGone) else restarting()
            self._answers.refuse(visitor, command, lost)
            raise
        except Exception:
            self._answers.refuse(visitor, command, our_fault())
            raise
        self._answers.count(command)
        if heard is not None:
            self._growth.followed(visitor, command)
        if isinstance(command, c.Leave):
            await self._door.see_off(visitor, command.id, heard)
        else:
            self._table.tell(heard, answering=(visitor, command.id))

    async def _acts(self, visitor: Visitor) -> None:
        """Even a refused command shows that a seat's person is there."""
        if visitor.token is not None:
            await self._table.do(CameBack(visitor.token))

    # Without the room's task, which nobody may wake meanwhile

    def begin(
        self, ask: Ask, then: Callable[[Ask, Begun], None], context: contextvars.Context
    ) -> bool:
        """Decide a card at once, and hand it to the store; whether it could be.

        `then` is called when the store has answered. Whatever isn't plain is the task's.
        """
        table, visitor, command = self._table, ask.visitor, ask.command
        if type(command) not in CARDS or visitor not in table.audience:
            return False
        try:
            begun = table.begin(visitor, command)
        except Exception:
            # The task will meet it again, and say so.
            return False
        if begun is None:
            return False

        def answered(_: object) -> None:
            then(ask, begun)

        begun.outcome.add_done_callback(answered, context=context)
        return True

    def finish(self, ask: Ask, begun: Begun) -> None:
        """Tell of a card that is stored; a fault of ours leaves the room alive."""
        visitor, command = ask.visitor, ask.command
        heard = None
        try:
            heard = self._table.ledger.finish(begun)
            self._answers.count(command)
            self._table.tell(heard, answering=(visitor, command.id))
        except Exception:
            log.exception("room_fault")
            if heard is None:
                self._answers.refuse(visitor, command, our_fault())
        finally:
            visitor.asked -= 1

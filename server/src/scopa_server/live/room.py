"""A room being shown: one task that owns its state and reads one inbox.

Whatever changes the room goes through that task, one thing at a time: decide, append, and only
when it is stored tell. It never awaits a connection.
"""

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Final

import structlog
from msgspec.structs import replace

from scopa_protocol import commands as c
from scopa_protocol.codes import CloseCode
from scopa_server.room.context import Actor
from scopa_server.room.project import project_for_server
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room

from .answers import Answers, restarting
from .clerk import Clerk
from .clocks import ANSWER_SECONDS, ServerTurn
from .door import Door
from .gossip import SAY_SECONDS, Gossip
from .growth import Growth
from .history import Historian
from .inbox import COMMANDS, Ask, Enter, Gone, Inbox, Message
from .ledger import Begun, Ledger, RoomGone, RoomLost
from .surroundings import Surroundings
from .table import Table
from .visitor import Visitor

log = structlog.stdlib.get_logger()

TOUCH_SECONDS: Final = 60
"""How often the store hears that a room is shown."""
CLOCK_TOUCH_SECONDS: Final = 10
"""The same while time matters: what a crash may add to a clock."""
HOLD_SECONDS: Final = 1
"""After a step of its own failed, a room waits so long before it tries again."""


class LiveRoom:
    """One room and those connected to it. `run` is its task."""

    def __init__(
        self,
        ledger: Ledger,
        around: Surroundings,
        gossip: Gossip,
        growth: Growth,
        shown: int | None,
    ) -> None:
        self._around = around
        self._time = around.time
        self._table = Table(ledger, around, gossip, growth, shown)
        self._answers = Answers(around.metrics)
        self._historian = Historian(ledger, self._answers)
        self._growth = growth
        self._door = Door(self._table, self._answers, self._historian, growth)
        self._clerk = Clerk(self._table, self._answers, self._historian, growth, self._door)
        self._inbox = Inbox(around.time)
        self._context = contextvars.Context()
        self._newer = False
        self._gossip_at = self._time.now()
        self._mute_until = 0.0
        self._stopping = False
        self._empty_since: float | None = self._time.now()
        self._touched = self._time.now()
        self._held_until = 0.0
        self._look_at = 0.0
        self.closed = False
        """No longer shown: nobody can enter."""

    @property
    def room(self) -> Room:
        """The state, as of the latest commit."""
        return self._table.room

    @property
    def log_id(self) -> str:
        """Which log the views' `seq` counts."""
        return self._table.ledger.log_id

    @property
    def online(self) -> frozenset[int]:
        """Seats with a connection."""
        return self._table.online

    # Called from outside the task

    def ask(self, visitor: Visitor, command: c.Command, passcode: str | None = None) -> bool:
        """Leave a command in the inbox; whether there was room for it. Raises Refused."""
        if self.closed:
            raise restarting()
        waiting = len(self._inbox.messages)
        self._around.metrics.waiting(waiting)
        if waiting >= COMMANDS:
            return False
        visitor.asked += 1
        ask = Ask(visitor, command, passcode)
        if self._inbox.sleeps and self._clerk.begin(ask, self._answered, self._context):
            self._inbox.hold()
        else:
            self._inbox.put(ask)
        return True

    def _answered(self, ask: Ask, begun: Begun) -> None:
        """The store has answered a card that was followed while the task slept."""
        calm = False
        try:
            if not begun.is_stored:
                self._inbox.put_first(replace(ask, begun=begun))
            elif not self.closed:
                self._clerk.finish(ask, begun)
                calm = self._is_calm()
        except Exception:
            # The task will meet it again, and send everybody to a new one.
            log.exception("room_fault")
        finally:
            if not calm:
                self._inbox.wake()
            self._inbox.release()

    async def enter(
        self, visitor: Visitor, command: c.Create | c.Join | c.Resume | c.Watch, made: str | None
    ) -> bool:
        """Let a visitor in, or answer why not; false if the room is no longer shown."""
        if self.closed:
            return False
        done = asyncio.get_running_loop().create_future()
        self._inbox.put(Enter(visitor, command, made, done))
        return await asyncio.shield(done)

    def drop(self, visitor: Visitor) -> None:
        """A visitor's connection has ended."""
        if not self.closed:
            self._inbox.put(Gone(visitor))

    @property
    def top(self) -> tuple[int, str]:
        """Number and id of the newest commit that is known here."""
        return self._table.ledger.top

    def notice_news(self, *, gossip: bool) -> None:
        """Other processes may have stored commits; `gossip`: or have news of who is there."""
        self._newer = True
        if gossip:
            self._gossip_at = 0
        self._inbox.wake()

    def send_away(self) -> None:
        """Let everybody come back at once, best through a process that reaches the store."""
        for visitor in self._table.audience:
            visitor.outbox.close(
                CloseCode.RESTART,
                "store_unreachable",
                "The server can't reach its store; your seat is kept.",
                retry=True,
            )

    def stop(self) -> None:
        """End the task when what is under way is stored."""
        self._stopping = True
        self._inbox.wake()

    # The task

    async def run(self) -> None:
        """The room's life in this process."""
        structlog.contextvars.bind_contextvars(room=self.room.code)
        self._context = contextvars.copy_context()
        try:
            await self._safely(self._table.meet())
            while not self._ends():
                await self._inbox.wait()
                await self._turn()
        except Exception:
            # Nobody may be left at a table that no task serves.
            log.exception("room_fault")
            self._give_up()
        finally:
            self._close()
            await self._historian.close()
            await self._table.part()
        if self._table.audience.anyone:
            await self._table.touch()
        await self._table.ledger.snapshot()

    def _ends(self) -> bool:
        if self._stopping:
            return True
        return self._is_forsaken() and not self._inbox.messages

    def _is_forsaken(self) -> bool:
        if self._empty_since is None:
            return False
        return self._time.now() - self._empty_since >= self._around.linger_seconds

    async def _turn(self) -> None:
        """One message, then whatever is due; more of either wakes the room again."""
        ledger = self._table.ledger
        if self._newer:
            self._newer = False
            await self._safely(self._catch_up())
        message = self._inbox.take()
        if message is not None:
            await self._safely(self._handled(message))
            if _is_card(message) and self._is_calm():
                # An earlier alarm may have rung meanwhile, and was the only one.
                self._inbox.wake_at(self._look_at)
                return
        if self._must_exchange():
            await self._exchange()
        if self._must_act() and not await self._safely(self._act()):
            self._hold()
        self._table.tell_news()
        if ledger.wants_snapshot:
            ledger.begin_snapshot()
        if self._has_emptied():
            await self._table.touch()
        self._look_at = self._next_at()
        self._inbox.wake_at(self._look_at)

    def _is_calm(self) -> bool:
        """Whether nothing follows from a card, like from most, before `_look_at`."""
        return (
            not (self._newer or self._stopping or self._inbox.messages)
            and self._time.now() < min(self._look_at, self._gossip_at)
            and self._table.is_calm
        )

    def _must_exchange(self) -> bool:
        """Whether there is something new to say to other processes, or it is time to."""
        now = self._time.now()
        return now >= self._gossip_at or (now >= self._mute_until and self._table.has_gossip)

    async def _exchange(self) -> None:
        """Exchange with other processes who is there."""
        table, now = self._table, self._time.now()
        self._gossip_at = now + SAY_SECONDS
        await self._safely(table.gossip())
        if table.is_new:
            self._gossip_at = now + ANSWER_SECONDS
        if table.has_gossip and table.is_heard:
            # What was heard leaves something to be said, who must go for one; it ends soon.
            self._gossip_at = now
        elif table.has_gossip:
            # A store that can't be reached is not asked on every turn.
            self._mute_until = self._time.now() + HOLD_SECONDS

    async def _safely(self, step: Coroutine[None, None, object]) -> bool:
        """Take a step, and say if it went well; a fault of ours leaves the room alive."""
        try:
            await step
            return True
        except RoomLost as fault:
            log.error("room_lost", reason=str(fault))
            self._give_up(gone=isinstance(fault, RoomGone))
        except Refused as refusal:
            log.info("not_done", code=refusal.code.value)
        except Exception:
            log.exception("room_fault")
        return False

    def _give_up(self, *, gone: bool = False) -> None:
        """This process can't show the room any more: perhaps another, or a later one, can."""
        self._stopping = True
        if gone:
            self._door.close_room()
        else:
            self._door.clear("room_lost", "The room must be loaded anew.")

    def _has_emptied(self) -> bool:
        """Notice who is left; whether the last has just gone, so that time stops here."""
        was_empty = self._empty_since is not None
        if self._table.audience.anyone:
            self._empty_since = None
        elif not was_empty:
            self._empty_since = self._time.now()
        self._table.note()
        return self._empty_since is not None and not was_empty

    def _next_at(self) -> float:
        """When to look around again, if nothing comes in."""
        if self._newer or self._stopping:
            return self._time.now()
        if self._empty_since is not None:
            return self._empty_since + self._around.linger_seconds
        due = self._table.next_at
        routine = min(self._touch_at(), self._gossip_at)
        return max(self._held_until, routine if due is None else min(due, routine))

    def _touch_at(self) -> float:
        """When the store is to hear again that the room is shown, well before its time is over."""
        third = self._table.ledger.lifetime / 3
        soon = self._touched + min(CLOCK_TOUCH_SECONDS, third)
        # Whether time matters is looked at only when it might.
        if self._time.now() < soon or self._table.waits:
            return soon
        return self._touched + min(TOUCH_SECONDS, third)

    def _close(self) -> None:
        """Nobody gets in any more; who still waits to enter is told to look again."""
        self.closed = True
        for message in self._inbox.close():
            if isinstance(message, Enter) and not message.done.done():
                message.done.set_result(False)
            elif isinstance(message, Ask):
                self._answers.refuse(message.visitor, message.command, restarting())
        self._historian.drop(restarting())

    # What comes in

    def _handled(self, message: Message) -> Coroutine[None, None, None]:
        if isinstance(message, Ask):
            return self._clerk.follow(message)
        if isinstance(message, Enter):
            return self._door.let_in(message, self)
        return self._door.miss(message.visitor)

    async def _catch_up(self) -> None:
        await self._table.ledger.catch_up()
        await self._table.disown_absences()

    # What is due

    def _must_act(self) -> bool:
        """Whether something is due that nobody asks for."""
        now = self._time.now()
        if self._stopping or now < self._held_until:
            return False
        table = self._table
        table.note()
        due = table.next_at
        return (due is not None and due <= now) or now >= self._touch_at() or table.is_marked_ahead

    async def _act(self) -> None:
        due, before = self._table.clocks.due(self.room, self._table.online), self.room.seq
        if due is not None and not self._growth.goes_on(before, self._table.audience):
            self._hold()
        elif isinstance(due, ServerTurn):
            await self._act_for(due.seat)
        elif due is not None:
            await self._table.do(due)
        if due is not None and self.room.seq == before:
            # Still due, it would be tried again and again without a pause.
            self._hold()
        if self._time.now() >= self._touch_at() or self._table.is_marked_ahead:
            self._touched = self._time.now()
            await self._table.touch()

    def _hold(self) -> None:
        self._held_until = self._time.now() + HOLD_SECONDS

    async def _act_for(self, seat: int) -> None:
        table = self._table
        command = self._around.player(project_for_server(self.room, seat, table.scene()))
        table.tell(await table.commit(Actor(seat, auto=True), command))
        self._around.metrics.stood_in()


def _is_card(message: Message) -> bool:
    return isinstance(message, Ask) and isinstance(message.command, c.Play)

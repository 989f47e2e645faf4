"""A room being shown: one task that owns its state and reads one inbox.

Whatever changes the room goes through that task, one thing at a time: decide, append, and only
when it is stored tell. It never awaits a connection.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine, Iterator
from typing import Final, Protocol, TypeAlias

import structlog
from msgspec import Struct

from scopa_protocol import commands as c
from scopa_protocol import events as told
from scopa_protocol.codes import CloseCode, ErrorCode
from scopa_protocol.frames import Error, Joined, Talk, Update
from scopa_protocol.invite import write_invite
from scopa_protocol.views import View
from scopa_server.metrics import OK, Metrics
from scopa_server.room.context import Actor, Context
from scopa_server.room.decide import decide
from scopa_server.room.decide.internal import CameBack, Internal, Settle
from scopa_server.room.decide.seating import admit_watcher
from scopa_server.room.events import Events
from scopa_server.room.project import Scene, project, project_for_server
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room, Shuffle
from scopa_server.room.tokens import token_hash

from .audience import Audience
from .clocks import Clocks, ServerTurn
from .history import Historian
from .ledger import Ledger, RoomLost
from .time import Time, Timer
from .visitor import Visitor

log = structlog.stdlib.get_logger()

INBOX: Final = 256
"""Commands that may wait in a room's inbox."""
TALK_SHOWN: Final = 20
TOUCH_SECONDS: Final = 60
HOLD_SECONDS: Final = 1
"""After a step of its own failed, a room waits so long before it tries again."""


class Player(Protocol):
    """Plays for seats that the server serves, seeing what the seat sees."""

    def __call__(self, view: View) -> c.FirstCard | c.Declare | c.Play:
        """What the seat does, now that the table waits for it."""
        ...


class Surroundings(Struct, frozen=True, kw_only=True):
    """What every live room of a process shares."""

    time: Time
    shuffles: Iterator[Shuffle]
    player: Player
    metrics: Metrics
    linger_seconds: float = 10
    max_watchers: int = 20


class Ask(Struct, frozen=True):
    """A visitor's command; `passcode` is the hash of one it brings."""

    visitor: Visitor
    command: c.Command
    passcode: str | None = None


class Enter(Struct, frozen=True):
    """A visitor wants in. `made`: the token, if the server made it."""

    visitor: Visitor
    command: c.Create | c.Join | c.Resume | c.Watch
    made: str | None
    done: asyncio.Future[bool]


class Gone(Struct, frozen=True):
    """A visitor's connection has ended."""

    visitor: Visitor


Message: TypeAlias = Ask | Enter | Gone


class LiveRoom:
    """One room and those connected to it. `run` is its task."""

    def __init__(self, ledger: Ledger, around: Surroundings, shown: int | None) -> None:
        self._ledger = ledger
        self._around = around
        self._audience = Audience()
        self._clocks = Clocks(around.time, ledger.room, shown)
        self._historian = Historian(ledger, refuse=self._refuse, count=self._count)
        self._inbox: deque[Message] = deque()
        self._wake = asyncio.Event()
        self._timer: Timer | None = None
        self._newer = False
        self._stopping = False
        self._empty_since: float | None = around.time.now()
        self._touched = around.time.now()
        self._held_until = 0.0
        self._told = (ledger.log_id, ledger.room.seq)
        self.closed = False
        """No longer shown: nobody can enter."""

    @property
    def room(self) -> Room:
        """The state, as of the latest commit."""
        return self._ledger.room

    @property
    def log_id(self) -> str:
        """Which log the views' `seq` counts."""
        return self._ledger.log_id

    @property
    def online(self) -> frozenset[int]:
        """Seats with a connection."""
        return self._audience.online

    def ask(self, visitor: Visitor, command: c.Command, passcode: str | None = None) -> bool:
        """Leave a command in the inbox; whether there was room for it. Raises Refused."""
        if self.closed:
            raise restarting()
        self._around.metrics.waiting(len(self._inbox))
        if len(self._inbox) >= INBOX:
            return False
        visitor.asked += 1
        self._put(Ask(visitor, command, passcode))
        return True

    async def enter(
        self, visitor: Visitor, command: c.Create | c.Join | c.Resume | c.Watch, made: str | None
    ) -> bool:
        """Let a visitor in, or answer why not; false if the room is no longer shown."""
        if self.closed:
            return False
        done = asyncio.get_running_loop().create_future()
        self._put(Enter(visitor, command, made, done))
        return await asyncio.shield(done)

    def drop(self, visitor: Visitor) -> None:
        """A visitor's connection has ended."""
        if not self.closed:
            self._put(Gone(visitor))

    def notice_newer(self) -> None:
        """The store may have newer commits."""
        self._newer = True
        self._wake.set()

    def stop(self) -> None:
        """End the task when what is under way is stored."""
        self._stopping = True
        self._wake.set()

    def _put(self, message: Message) -> None:
        self._inbox.append(message)
        self._wake.set()

    async def run(self) -> None:
        """The room's life in this process."""
        structlog.contextvars.bind_contextvars(room=self.room.code)
        try:
            while not self._ends():
                await self._wake.wait()
                self._wake.clear()
                await self._turn()
                # A room with much to do must leave the loop to the others now and then.
                await asyncio.sleep(0)
        except Exception:
            # Nobody may be left at a table that no task serves.
            log.exception("room_fault")
            self._give_up()
        finally:
            self._close()
            await self._historian.close()
        if len(self._audience):
            await self._ledger.touch()
        await self._ledger.snapshot()

    def _ends(self) -> bool:
        if self._stopping:
            return True
        return self._is_forsaken() and not self._inbox

    def _is_forsaken(self) -> bool:
        if self._empty_since is None:
            return False
        return self._around.time.now() - self._empty_since >= self._around.linger_seconds

    async def _turn(self) -> None:
        """One message, then whatever is due; more of either wakes the room again."""
        if self._newer:
            self._newer = False
            await self._safely(self._catch_up())
        if self._inbox:
            await self._safely(self._handle(self._inbox.popleft()))
        if not self._stopping and not await self._safely(self._act()):
            self._held_until = self._around.time.now() + HOLD_SECONDS
        if self._told != (self.log_id, self.room.seq):
            self._tell([])
        if self._ledger.wants_snapshot:
            await self._ledger.snapshot()
        if self._has_emptied():
            await self._ledger.touch()
        self._plan()

    async def _safely(self, step: Coroutine[None, None, None]) -> bool:
        """Take a step, and say if it went well; a fault of ours leaves the room alive."""
        try:
            await step
            return True
        except RoomLost as fault:
            log.error("room_lost", reason=str(fault))
            self._give_up()
        except Refused as refusal:
            log.info("not_done", code=refusal.code.value)
        except Exception:
            log.exception("room_fault")
        return False

    def _give_up(self) -> None:
        """This process can't show the room any more: perhaps another, or a later one, can."""
        self._stopping = True
        for visitor in self._audience:
            self._audience.remove(visitor)
            visitor.outbox.close(
                CloseCode.RESTART, "room_lost", "The room must be loaded anew.", retry=True
            )

    def _has_emptied(self) -> bool:
        """Notice who is left; whether the last has just gone, so that time stops here."""
        was_empty = self._empty_since is not None
        if len(self._audience):
            self._empty_since = None
        elif not was_empty:
            self._empty_since = self._around.time.now()
        self._note()
        return self._empty_since is not None and not was_empty

    def _note(self) -> None:
        self._clocks.note(self.room, anyone=len(self._audience) > 0)

    def _plan(self) -> None:
        """Wake up for the next message, or for whatever is due next."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        when = self._next_at()
        if self._inbox or self._newer or self._stopping or when <= self._around.time.now():
            self._wake.set()
        else:
            self._timer = self._around.time.call_at(when, self._wake.set)

    def _next_at(self) -> float:
        if self._empty_since is not None:
            return self._empty_since + self._around.linger_seconds
        due = self._clocks.next_at(self.room, self._audience.online)
        touch = self._touched + TOUCH_SECONDS
        return max(self._held_until, touch if due is None else min(due, touch))

    def _close(self) -> None:
        """Nobody gets in any more; who still waits to enter is told to look again."""
        self.closed = True
        if self._timer is not None:
            self._timer.cancel()
        for message in self._inbox:
            if isinstance(message, Enter) and not message.done.done():
                message.done.set_result(False)
            elif isinstance(message, Ask):
                self._refuse(message.visitor, message.command, restarting())
        self._inbox.clear()
        self._historian.drop(restarting())

    # What comes in

    async def _handle(self, message: Message) -> None:
        match message:
            case Ask(visitor):
                try:
                    await self._answer(message)
                finally:
                    visitor.asked -= 1
            case Enter():
                await self._let_in(message)
            case Gone(visitor):
                await self._part(visitor)

    async def _answer(self, ask: Ask) -> None:
        visitor, command = ask.visitor, ask.command
        if isinstance(command, c.History) and visitor in self._audience:
            self._historian.ask(visitor, command)
            return
        if visitor not in self._audience:
            return
        try:
            heard = await self._commit(self._actor(visitor), command, ask.passcode)
        except Refused as refusal:
            self._refuse(visitor, command, refusal)
            await self._acts(visitor)
            return
        except RoomLost:
            self._refuse(visitor, command, restarting())
            raise
        except Exception:
            self._refuse(visitor, command, _our_fault())
            raise
        self._count(command)
        if isinstance(command, c.Leave):
            await self._see_off(visitor, command.id, heard)
        else:
            self._tell(heard, answering=(visitor, command.id))

    def _refuse(self, visitor: Visitor, command: c.Command, refusal: Refused) -> None:
        refuse(visitor, command.id, refusal)
        self._count(command, refusal.code.value)

    def _count(self, command: c.Command, outcome: str = OK) -> None:
        self._around.metrics.answered(str(command.__struct_config__.tag), outcome)

    def _actor(self, visitor: Visitor) -> Actor:
        return Actor(visitor.seat, name=visitor.name)

    async def _acts(self, visitor: Visitor) -> None:
        """Even a refused command shows that a seat's person is there."""
        if visitor.seat is not None:
            await self._do(CameBack(visitor.seat))

    async def _see_off(
        self, visitor: Visitor, re: int | None, heard: list[told.RoomEvent] | None
    ) -> None:
        """A visitor has left: answer it, close it, tell the others."""
        token = visitor.token
        self._audience.remove(visitor)
        self._historian.drop(has_left(), visitor)
        view = project(self.room, None, self._scene())
        visitor.outbox.show(
            Update(
                re=None if re is None else [re],
                seq=self.room.seq,
                events=heard or [],
                view=view,
            )
        )
        visitor.outbox.close(CloseCode.LEFT, "left", "You have left the room.")
        if token is None:
            self._tell([told.WatcherLeft(name=visitor.name)])
        else:
            self._tell(heard)
        await self._do(Settle())

    async def _let_in(self, enter: Enter) -> None:
        visitor, command = enter.visitor, enter.command
        try:
            # A join is a fact whoever made it stays for; to come back or watch one must be here.
            if not visitor.gone or isinstance(command, c.Create | c.Join):
                await self._admit(enter)
                self._count(command)
        except Refused as refusal:
            self._refuse(visitor, command, refusal)
        except RoomLost:
            self._refuse(visitor, command, restarting())
            raise
        except Exception:
            self._refuse(visitor, command, _our_fault())
            raise
        finally:
            if not enter.done.done():
                enter.done.set_result(True)

    async def _admit(self, enter: Enter) -> None:
        visitor, command = enter.visitor, enter.command
        await self._catch_up()
        if isinstance(command, c.Watch):
            self._admit_watcher(visitor, command)
        else:
            await self._admit_person(visitor, command)
        if visitor.gone:
            self._clocks.went(visitor.token or "")
            return
        made = enter.made if isinstance(command, c.Create | c.Join) else None
        self._welcome(visitor, command.id, made)

    def _admit_watcher(self, visitor: Visitor, command: c.Watch) -> None:
        name = admit_watcher(self.room, command, self._context())
        if len(self._audience.watchers) >= self._around.max_watchers:
            raise Refused(ErrorCode.ROOM_FULL, "As many as may are watching this room already.")
        visitor.name = name

    async def _admit_person(self, visitor: Visitor, command: c.Create | c.Join | c.Resume) -> None:
        token = token_hash(command.token or "")
        if isinstance(command, c.Join):
            self._tell(await self._commit(Actor(None), command))
        seat = self.room.seat_of(token)
        if seat is None:
            raise bad_token()
        await self._do(CameBack(seat))
        visitor.token, visitor.seat = token, seat

    def _welcome(self, visitor: Visitor, re: int | None, made: str | None) -> None:
        before = self._audience.online
        self._audience.add(visitor)
        visitor.room = self
        self._note()
        visitor.outbox.reply(
            Joined(
                re=re,
                room=self.room.code,
                seat=visitor.seat,
                token=made,
                invite=write_invite(visitor.invite_base, self.room.code),
                talk=[
                    Talk(name=said.name, seat=said.seat, text=said.text)
                    for said in self.room.talk[-TALK_SHOWN:]
                ],
                view=project(self.room, visitor.seat, self._scene()),
            )
        )
        if visitor.seat is None:
            self._tell([told.WatcherCame(name=visitor.name)], but=visitor)
        elif visitor.seat not in before:
            self._tell([told.Presence(seat=visitor.seat, online=True)], but=visitor)

    async def _part(self, visitor: Visitor) -> None:
        """A connection has ended; its seat stays its person's."""
        self._historian.drop(has_left(), visitor)
        if visitor not in self._audience:
            return
        seat, token = visitor.seat, visitor.token
        self._audience.remove(visitor)
        if token is None:
            self._tell([told.WatcherLeft(name=visitor.name)])
        elif seat is not None and seat not in self._audience.online:
            self._clocks.went(token)
            self._tell([told.Presence(seat=seat, online=False)])
            await self._do(Settle())

    # What is due

    async def _act(self) -> None:
        if self._around.time.now() < self._held_until:
            return
        self._note()
        due, before = self._clocks.due(self.room, self._audience.online), self.room.seq
        if isinstance(due, ServerTurn):
            await self._act_for(due.seat)
        elif due is not None:
            await self._do(due)
        if due is not None and self.room.seq == before:
            # Still due, it would be tried again and again without a pause.
            self._held_until = self._around.time.now() + HOLD_SECONDS
        if self._around.time.now() - self._touched >= TOUCH_SECONDS:
            self._touched = self._around.time.now()
            await self._ledger.touch()

    async def _act_for(self, seat: int) -> None:
        command = self._around.player(project_for_server(self.room, seat, self._scene()))
        self._tell(await self._commit(Actor(seat, auto=True), command))
        self._around.metrics.stood_in()

    async def _do(self, command: Internal) -> None:
        self._tell(await self._commit(Actor(None), command))

    async def _catch_up(self) -> None:
        await self._ledger.catch_up()

    async def _commit(
        self, actor: Actor, command: c.Command | Internal, passcode: str | None = None
    ) -> list[told.RoomEvent] | None:
        def decided(room: Room) -> Events:
            return decide(room, actor, command, self._context(passcode))

        return await self._ledger.commit(decided)

    # What goes out

    def _context(self, passcode: str | None = None) -> Context:
        online = self._audience.online
        return Context(
            shuffles=self._around.shuffles,
            online=online,
            offline_ms=self._clocks.offline_ms(self.room, online),
            watchers=self._audience.watchers,
            passcode=passcode,
        )

    def _scene(self) -> Scene:
        online = self._audience.online
        return Scene(
            log=self._ledger.log_id,
            online=online,
            watchers=self._audience.watchers,
            clock=self._clocks.shown(self.room, online),
        )

    def _tell(
        self,
        heard: list[told.RoomEvent] | None,
        *,
        answering: tuple[Visitor, int | None] | None = None,
        but: Visitor | None = None,
    ) -> None:
        """Show everybody the room after what happened, or who asked if nothing did."""
        self._audience.reseat(self.room)
        self._note()
        only = answering[0] if heard is None and answering is not None else None
        if heard is None and only is None:
            return
        if only is None and but is None:
            self._told = (self.log_id, self.room.seq)
        self._audience.show(
            self.room, self._scene(), heard or [], answering=answering, but=but, only=only
        )


def refuse(visitor: Visitor, re: int | None, refusal: Refused) -> None:
    """Answer a command with why it can't be followed."""
    visitor.outbox.reply(
        Error(re=re, code=refusal.code.value, message=refusal.message, details=refusal.details)
    )


def bad_token() -> Refused:
    """The same words for a wrong token and an unknown room."""
    return Refused(
        ErrorCode.BAD_TOKEN, "That seat isn't held by this client; join with the invite instead."
    )


def restarting() -> Refused:
    """That this process serves the room no more."""
    return Refused(ErrorCode.RESTARTING, "The server restarts; try again in a moment.")


def has_left() -> Refused:
    """That a visitor is not in the room any more."""
    return Refused(ErrorCode.NOT_IN_A_ROOM, "You have left the room.")


def _our_fault() -> Refused:
    return Refused(
        ErrorCode.INTERNAL_ERROR, "Something went wrong on the server; the table is as it was."
    )

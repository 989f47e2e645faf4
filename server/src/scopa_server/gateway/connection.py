"""One connection: frames decoded and handed on, what waits in its outbox sent."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from time import monotonic
from typing import Final

import structlog
from websockets.exceptions import ConnectionClosed

from scopa_protocol import VERSION, WIRE_VERSION
from scopa_protocol import commands as c
from scopa_protocol.codec import BadMessage, Codec
from scopa_protocol.codes import CloseCode, ErrorCode
from scopa_protocol.frames import Error, Hello, Limits, Pong, ServerFrame
from scopa_protocol.text import SAY_LENGTH
from scopa_server.allowance import Allowance
from scopa_server.bounds import Bounds
from scopa_server.live.answers import too_fast
from scopa_server.live.rooms import Rooms
from scopa_server.live.showing import Update
from scopa_server.live.time import Time
from scopa_server.live.visitor import Visitor
from scopa_server.metrics import KINDS, OK, Limit, Metrics
from scopa_server.room.decide.seating import BOT_LEVELS
from scopa_server.room.refused import Refused
from scopa_server.rules.presets import PRESETS

from .handover import Movable
from .idling import Idling
from .journey import Journey
from .neighbours import Neighbours
from .writer import Writer

log = structlog.stdlib.get_logger()

WAITING: Final = 8
"""Commands of a connection that may wait for an answer."""
BAD_MESSAGES: Final = 20
"""Bad messages in a row after which a connection is closed."""
FLOOD: Final = 200
"""How many more commands may be refused as too fast than followed, before it is closed."""
SHORT: Final = 1024
"""Bytes; what a game is made of is shorter, and what isn't would be decoded twice."""
RETRY_SECONDS: Final = 0.25
_GAME: Final = (c.Play, c.Ready)
"""What a game is made of."""
BURST_SECONDS: Final = 2
"""How long frames may come at once that would have been allowed one after the other."""


def hello(key_needed: bool, bounds: Bounds) -> Hello:
    """The server's first frame."""
    return Hello(
        version=WIRE_VERSION,
        server=f"scopa-server {VERSION}",
        limits=Limits(
            frame_bytes=bounds.max_frame_bytes,
            waiting=WAITING,
            seat_connections=bounds.max_connections_per_seat,
            name_length=bounds.max_name_length,
            say_length=SAY_LENGTH,
        ),
        variants=list(PRESETS),
        bot_levels=list(BOT_LEVELS),
        key_needed=key_needed,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every connection of a server shares."""

    rooms: Rooms
    metrics: Metrics
    time: Time
    bounds: Bounds
    now: Callable[[], float] = monotonic
    """Seconds, told faster than by `time`: each frame asks."""
    neighbours: Neighbours | None = None


class Connection:
    """A client's connection, from `hello` to its close.

    If it came from another process it goes on as it was there, without `hello`.
    """

    def __init__(self, socket: Movable, codec: Codec, desk: Desk, visitor: Visitor) -> None:
        self._socket = socket
        self._codec = codec
        self._desk = desk
        self._now = desk.now
        rate = desk.bounds.max_frames_per_second
        self._pace = Allowance(rate * BURST_SECONDS, 1 / rate)
        self._waiting = 0
        self._bad = 0
        self._flood = 0
        self._listens = False
        """All that was read so far is followed."""
        self._task: asyncio.Task[None] | None = None
        self.visitor = visitor
        self._idling = Idling(visitor, desk.time, desk.bounds.idle_time, _tired(visitor, desk))
        if socket.came is None:
            self.visitor.outbox.reply(hello(desk.rooms.key_needed, desk.bounds))
        else:
            self._flood = socket.came.flood
            self._pace.use(socket.came.pace, self._now())
        self._journey: Journey | None = None
        if desk.neighbours is not None:
            self._journey = Journey(
                desk.neighbours, socket, self.visitor, self._pace, self._idling, self._now
            )
        self._writer = Writer(
            socket, codec, self.visitor.outbox, desk.bounds.unread_time, desk.metrics
        )

    async def run(self) -> None:
        """Serve the connection until it is closed."""
        self._task = asyncio.current_task()
        self._writer.start(self._answered)
        self._socket.take = self._take
        came = self._socket.came
        if came is None:
            self._idling.go_on()
        else:
            self._idling.resume(came.idle, came.stays)
        try:
            await self._read()
        except _LineGone:
            return
        finally:
            self._socket.take = None
            self._idling.stop()
            self.visitor.gone = True
            if self.visitor.room is not None:
                self.visitor.room.drop(self.visitor)
            await self._writer.stop()

    def stop(self) -> None:
        """The server is going down: say so, and close."""
        self.visitor.outbox.close(
            CloseCode.RESTART,
            "restarting",
            "The server restarts; your seat is kept.",
            retry=True,
        )

    def cut(self) -> None:
        """End at once, whatever is under way; what rooms store is theirs to finish."""
        self._socket.transport.abort()
        if self._task is not None:
            self._task.cancel()

    # Reading

    async def _read(self) -> None:
        outbox = self.visitor.outbox
        try:
            while True:
                self._listens = True
                data, replied = await self._socket.recv(), outbox.replied
                self._listens = False
                # Read on, so that the other side's close is heard, but follow no more.
                if outbox.closing is None:
                    await self._receive(data)
                if outbox.replied != replied:
                    # Frames that came together are read without a pause; let others have theirs.
                    await asyncio.sleep(0)
        except ConnectionClosed:
            return

    def _take(self, data: bytes, text: bool) -> bool:
        """Follow at once what a game is made of; anything else is read in its turn, by the task."""
        visitor = self.visitor
        room = visitor.room
        if room is None or not self._listens or visitor.outbox.closing or len(data) > SHORT:
            return False
        if text is self._codec.binary:
            return False
        try:
            command = self._codec.decode_command(data)
        except BadMessage:
            return False
        if not isinstance(command, _GAME):
            return False
        self._bad = 0
        if self._admits(command):
            try:
                if not room.ask(visitor, command):
                    raise _busy()
            except Exception as fault:
                self._excuse(command, fault)
        return True

    async def _receive(self, data: str | bytes) -> None:
        if isinstance(data, bytes) != self._codec.binary:
            kind = "binary" if self._codec.binary else "text"
            self._bad_message(BadMessage(f"this subprotocol uses {kind} frames", None))
            return
        try:
            command = self._codec.decode_command(data.encode() if isinstance(data, str) else data)
        except BadMessage as fault:
            self._bad_message(fault)
            return
        self._bad = 0
        journey = self._journey
        if journey is not None and await journey.leads_on(command, data, self._flood):
            raise _LineGone
        # While another worker was asked it may have been told to go.
        if self.visitor.outbox.closing is None:
            await self._handle(command)

    def _bad_message(self, fault: BadMessage) -> None:
        self._bad += 1
        if fault.id is not None:
            self._waiting += 1
        seconds = self._pace.take(self._now())
        if seconds:
            self._slow_down("invalid", fault.id, seconds)
            return
        self._refuse(fault.id, Refused(fault.code, f"That is no command: {fault.reason}."))
        self._count("invalid", fault.code)
        if self._bad >= BAD_MESSAGES:
            self._show_out("policy", "Too many bad messages; is this client up to date?")

    async def _handle(self, command: c.ClientCommand) -> None:
        if not self._admits(command):
            return
        try:
            await self._follow(command)
        except _LineGone:
            raise
        except Exception as fault:
            self._excuse(command, fault)

    def _admits(self, command: c.ClientCommand) -> bool:
        """Count a command; whether it is to be followed, or was refused as one too many."""
        re, waits = command.id, self.visitor.asked >= WAITING
        if re is not None:
            waits = waits or self._waiting >= WAITING
            self._waiting += 1
        if waits:
            self._hold_back(KINDS[type(command)], re, RETRY_SECONDS)
            return False
        seconds = self._pace.take(self._now())
        if seconds:
            self._slow_down(KINDS[type(command)], re, seconds)
            return False
        if self._flood:
            self._flood -= 1
        return True

    def _excuse(self, command: c.ClientCommand, fault: Exception) -> None:
        """Answer a command that wasn't followed."""
        kind = KINDS[type(command)]
        if not isinstance(fault, Refused):
            name = str(self._socket.id)[:8]
            log.error("command_fault", command=kind, connection=name, exc_info=fault)
            fault = Refused(
                ErrorCode.INTERNAL_ERROR, "Something went wrong on the server; try again."
            )
        self._refuse(command.id, fault)
        self._count(kind, fault.code)

    def _slow_down(self, kind: str, re: int | None, seconds: float) -> None:
        """Refuse a frame, since more came than anybody plays."""
        self._desk.metrics.limited(Limit.FRAMES)
        self._hold_back(kind, re, seconds)

    def _hold_back(self, kind: str, re: int | None, seconds: float) -> None:
        """Refuse what comes too fast."""
        self._flood += 1
        self._refuse(re, too_fast("Wait for the answers to what you sent.", seconds))
        self._count(kind, ErrorCode.TOO_FAST)
        if self._flood >= FLOOD:
            self._show_out("policy", "Too many commands, without waiting for their answers.")

    def _show_out(self, reason: str, message: str) -> None:
        self.visitor.outbox.close(CloseCode.POLICY, reason, message)

    async def _follow(self, command: c.ClientCommand) -> None:
        match command:
            case c.Ping():
                self._pong(command)
            case c.Look() | c.Create() | c.Join() | c.Resume() | c.Watch():
                await self._visit(command)
            case _:
                await self._ask(command)

    def _pong(self, command: c.Ping) -> None:
        room = self.visitor.room
        self.visitor.outbox.reply(
            Pong(
                re=command.id,
                seq=None if room is None else room.room.seq,
                log=None if room is None else room.log_id,
            )
        )
        self._count("ping", None)

    async def _visit(self, command: c.Look | c.Create | c.Join | c.Resume | c.Watch) -> None:
        """Whatever names a room or opens one."""
        if not isinstance(command, c.Look) and self.visitor.room is not None:
            raise Refused(
                ErrorCode.ALREADY_IN_A_ROOM,
                "This connection is in a room; leave it, or open another connection.",
            )
        with self._idling.visit(command):
            await self._while_here(self._enter(command))

    async def _enter(self, command: c.Look | c.Create | c.Join | c.Resume | c.Watch) -> None:
        rooms = self._desk.rooms
        match command:
            case c.Look():
                self.visitor.outbox.reply(await rooms.look(self.visitor, command))
                self._count("look", None)
            case c.Create():
                await rooms.create(self.visitor, command)
            case _:
                await rooms.enter(self.visitor, command)

    async def _while_here(self, visit: Coroutine[None, None, None]) -> None:
        """See a visit through, unless the line ends first: a store may be long in answering."""
        visiting = asyncio.create_task(visit)
        gone = asyncio.create_task(self._socket.wait_closed())
        try:
            await asyncio.wait({visiting, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not visiting.done():
                raise _LineGone
            await visiting
        finally:
            visiting.cancel()
            gone.cancel()
            await asyncio.gather(visiting, gone, return_exceptions=True)

    async def _ask(self, command: c.Command) -> None:
        if not await self._desk.rooms.ask(self.visitor, command):
            raise _busy()

    # Answering

    def _refuse(self, re: int | None, refusal: Refused) -> None:
        self.visitor.outbox.reply(
            Error(re=re, code=refusal.code.value, message=refusal.message, details=refusal.details)
        )

    def _count(self, kind: str, code: ErrorCode | None) -> None:
        self._desk.metrics.answered(kind, OK if code is None else code.value)

    def _answered(self, frame: ServerFrame | Update) -> None:
        re: list[int] | int | None = getattr(frame, "re", None)
        if re is not None:
            self._waiting -= len(re) if isinstance(re, list) else 1


def _tired(visitor: Visitor, desk: Desk) -> Callable[[], None]:
    """What ends an idle connection, without leading back to it."""

    def tire() -> None:
        desk.metrics.limited(Limit.IDLE)
        visitor.outbox.close(
            CloseCode.POLICY, "idle", "No room was entered for a long time; connect again."
        )

    return tire


def _busy() -> Refused:
    return too_fast("The table is busy; wait a little.", RETRY_SECONDS)


class _LineGone(Exception):
    """The line has ended, or another worker has it, while a command was being followed."""

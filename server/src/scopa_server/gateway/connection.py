"""One connection: frames decoded and handed on, what waits in its outbox sent."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Final

import structlog
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from scopa_protocol import VERSION, WIRE_VERSION
from scopa_protocol import commands as c
from scopa_protocol.codec import MAX_FRAME, BadMessage, Codec
from scopa_protocol.codes import CloseCode, ErrorCode
from scopa_protocol.frames import Error, Hello, Limits, Pong, ServerFrame
from scopa_protocol.text import NAME_LENGTH, SAY_LENGTH
from scopa_server.live.audience import SEAT_CONNECTIONS
from scopa_server.live.outbox import Closing
from scopa_server.live.rooms import Rooms
from scopa_server.live.visitor import Visitor
from scopa_server.metrics import OK, Metrics
from scopa_server.room.decide.seating import BOT_LEVELS
from scopa_server.room.refused import Refused
from scopa_server.rules.presets import PRESETS

from .limits import FAILURES, Failures

log = structlog.stdlib.get_logger()

WAITING: Final = 8
"""Commands of a connection that may wait for an answer."""
BAD_MESSAGES: Final = 20
"""Bad messages in a row after which a connection is closed."""
FLOOD: Final = 200
"""How many more commands may be refused as too fast than followed, before it is closed."""
SEND_SECONDS: Final = 20
"""How long one frame may take to go out before the connection is cut."""
RETRY_MS: Final = 250


def hello(key_needed: bool) -> Hello:
    """The server's first frame."""
    return Hello(
        version=WIRE_VERSION,
        server=f"scopa-server {VERSION}",
        limits=Limits(
            frame_bytes=MAX_FRAME,
            waiting=WAITING,
            seat_connections=SEAT_CONNECTIONS,
            name_length=NAME_LENGTH,
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
    failures: Failures
    metrics: Metrics


class Connection:
    """A client's connection, from `hello` to its close."""

    def __init__(
        self, socket: ServerConnection, codec: Codec, desk: Desk, address: str, invite_base: str
    ) -> None:
        self._socket = socket
        self._codec = codec
        self._desk = desk
        self._address = address
        self._waiting = 0
        self._bad = 0
        self._flood = 0
        self._task: asyncio.Task[None] | None = None
        self.visitor = Visitor(invite_base)
        self.visitor.outbox.reply(hello(desk.rooms.key_needed))

    async def run(self) -> None:
        """Serve the connection until it is closed."""
        self._task = asyncio.current_task()
        writer = asyncio.create_task(self._write(), name="writer")
        try:
            await self._read()
        except _LineGone:
            return
        finally:
            self.visitor.gone = True
            if self.visitor.room is not None:
                self.visitor.room.drop(self.visitor)
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    def stop(self) -> None:
        """The server is going down: say so, and close."""
        self.visitor.outbox.close(
            CloseCode.RESTART,
            "restarting",
            "The server restarts; your seat is kept. Reconnect in a moment.",
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
                data = await self._socket.recv()
                # Read on, so that the other side's close is heard, but follow no more.
                if outbox.closing is None:
                    await self._receive(data)
                if outbox.replies:
                    # Frames that came together are read without a pause; let others have theirs.
                    await asyncio.sleep(0)
        except ConnectionClosed:
            return

    async def _receive(self, data: str | bytes) -> None:
        if isinstance(data, bytes) != self._codec.binary:
            kind = "binary" if self._codec.binary else "text"
            self._bad_message(f"this subprotocol uses {kind} frames", None)
            return
        try:
            command = self._codec.decode_command(data.encode() if isinstance(data, str) else data)
        except BadMessage as fault:
            self._bad_message(fault.reason, fault.id)
            return
        self._bad = 0
        await self._handle(command)

    def _bad_message(self, reason: str, re: int | None) -> None:
        self._bad += 1
        self._expect(re)
        self._refuse(re, Refused(ErrorCode.BAD_MESSAGE, f"That is no command: {reason}."))
        self._count("invalid", ErrorCode.BAD_MESSAGE)
        if self._bad >= BAD_MESSAGES:
            self._show_out("Too many bad messages; is this client up to date?")

    async def _handle(self, command: c.ClientCommand) -> None:
        kind = str(command.__struct_config__.tag)
        waits = max(self.visitor.asked, 0 if command.id is None else self._waiting)
        self._expect(command.id)
        if waits >= WAITING:
            self._hold_back(kind, command.id)
            return
        self._flood = max(0, self._flood - 1)
        try:
            await self._follow(command)
        except Refused as refusal:
            self._refuse(command.id, refusal)
            self._count(kind, refusal.code)
        except _LineGone:
            raise
        except Exception:
            log.exception("command_fault", command=kind)
            self._count(kind, ErrorCode.INTERNAL_ERROR)
            self._refuse(
                command.id,
                Refused(ErrorCode.INTERNAL_ERROR, "Something went wrong on the server; try again."),
            )

    def _hold_back(self, kind: str, re: int | None) -> None:
        """Refuse what comes faster than it can be answered."""
        self._flood += 1
        self._refuse(re, too_fast("Wait for the answers to what you sent.", RETRY_MS))
        self._count(kind, ErrorCode.TOO_FAST)
        if self._flood >= FLOOD:
            self._show_out("Too many commands without waiting for their answers.")

    def _show_out(self, message: str) -> None:
        self.visitor.outbox.close(CloseCode.POLICY, "policy", message)

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
        """Whatever names a room or opens one: limited, for those who guess."""
        failures = self._desk.failures
        if not isinstance(command, c.Look) and self.visitor.room is not None:
            raise Refused(
                ErrorCode.ALREADY_IN_A_ROOM,
                "This connection is in a room; leave it, or open another connection.",
            )
        wait_ms = failures.wait_ms(self._address) if self._may_guess(command) else 0
        if wait_ms and not await self._desk.rooms.holds(command):
            raise too_fast("Too many failed tries from here; wait a little.", wait_ms)
        try:
            await self._while_here(self._enter(command))
        except Refused as refusal:
            if refusal.code in FAILURES:
                failures.count(self._address)
            raise

    def _may_guess(self, command: c.ClientCommand) -> bool:
        """Whether a command could be a try at a code, a token, a passcode or a key."""
        return self._desk.rooms.key_needed or not isinstance(command, c.Create)

    async def _enter(self, command: c.Look | c.Create | c.Join | c.Resume | c.Watch) -> None:
        rooms = self._desk.rooms
        match command:
            case c.Look():
                self.visitor.outbox.reply(await rooms.look(command))
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
            raise too_fast("The table is busy; send that again in a moment.", RETRY_MS)

    # Answering

    def _expect(self, re: int | None) -> None:
        if re is not None:
            self._waiting += 1

    def _refuse(self, re: int | None, refusal: Refused) -> None:
        self.visitor.outbox.reply(
            Error(re=re, code=refusal.code.value, message=refusal.message, details=refusal.details)
        )

    def _count(self, kind: str, code: ErrorCode | None) -> None:
        self._desk.metrics.answered(kind, OK if code is None else code.value)

    # Writing

    async def _write(self) -> None:
        try:
            while True:
                item = await self.visitor.outbox.take()
                if isinstance(item, Closing):
                    await self._close(item)
                    return
                await self._send(item)
                self._waiting -= _answers(item)
        except ConnectionClosed:
            return
        except TimeoutError:
            log.info("not_reading")
            self._socket.transport.abort()
        except Exception:
            # Without its writer a connection would stay open and silent.
            log.exception("writer_fault")
            await self._socket.close(CloseCode.INTERNAL, "internal_error")

    async def _send(self, frame: ServerFrame) -> None:
        data = self._codec.encode(frame)
        async with asyncio.timeout(SEND_SECONDS):
            await self._socket.send(data, text=not self._codec.binary)
        self._desk.metrics.sent(len(data))

    async def _close(self, closing: Closing) -> None:
        await self._send(closing.bye)
        await self._socket.close(closing.code, closing.bye.code)


class _LineGone(Exception):
    """The line ended while a room was being asked to let its client in."""


def too_fast(message: str, retry_ms: int) -> Refused:
    """That a client must wait, and how long."""
    return Refused(ErrorCode.TOO_FAST, message, {"retry_ms": retry_ms})


def _answers(frame: ServerFrame) -> int:
    """How many commands a frame answers."""
    re: list[int] | int | None = getattr(frame, "re", None)
    if re is None:
        return 0
    return len(re) if isinstance(re, list) else 1

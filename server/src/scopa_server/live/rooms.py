"""Who gets into the rooms of this process, and what it takes to open one."""

import asyncio
import hmac
from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

import structlog
from msgspec.structs import replace

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_protocol.frames import RoomFrame
from scopa_protocol.invite import read_code
from scopa_protocol.text import clean_name
from scopa_server.journal.interface import Draft, Journal, Stored, Unavailable
from scopa_server.metrics import Limit
from scopa_server.room.apply import advance
from scopa_server.room.decide import open_room
from scopa_server.room.events import write_events
from scopa_server.room.project import seats, wire_rules
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room
from scopa_server.room.stored import Header, header, read_header
from scopa_server.room.tokens import is_among, is_token, room_code, token_hash

from .answers import bad_token, gone, unknown
from .budgets import Budgets
from .chance import new_id, new_token
from .failures import Failures
from .hosting import Hosting
from .keeping import Keeping, ended
from .ledger import Lifetimes, unavailable
from .passcodes import Passcodes
from .sharing import Sharing
from .surroundings import Surroundings
from .visitor import Visitor

log = structlog.stdlib.get_logger()

CODES_TRIED: Final = 16
"""Codes that one token may stand for before opening a room is given up."""


_Naming: TypeAlias = c.Look | c.Join | c.Resume | c.Watch
_Named: TypeAlias = c.Create | c.Join | c.Watch
_Tokened = TypeVar("_Tokened", c.Create, c.Join)


class Rooms:
    """The way into every room."""

    def __init__(
        self,
        journal: Journal,
        around: Surroundings,
        *,
        lifetimes: Lifetimes,
        access_key: str | None = None,
    ) -> None:
        self._journal = journal
        self._around = around
        self._lifetimes = lifetimes
        self._access_key = access_key
        self._passcodes = Passcodes(around.metrics)
        self._failures = Failures(around.time, around.bounds, around.metrics)
        self._budgets = Budgets(around)
        self.process = new_id()
        """Names this process among those on one store."""
        self._sharing = Sharing(journal, self._failures, self.process)
        self._shares: asyncio.Task[None] | None = None
        self._keeping = Keeping(journal, around, lifetimes, self._budgets, self.process)
        self._hosting = Hosting(self._keeping.live, around.time, around.bounds, around.metrics)

    def __len__(self) -> int:
        return len(self._keeping.live)

    @property
    def key_needed(self) -> bool:
        """Whether opening a room needs the server's access key."""
        return self._access_key is not None

    def begin(self) -> None:
        """Begin to exchange with other processes on the store, if there can be any."""
        if self._journal.shared and self._shares is None:
            self._shares = asyncio.create_task(self._sharing.run(), name="share")

    # Coming in

    async def create(self, visitor: Visitor, command: c.Create) -> None:
        """Open a room and let its host in; a token that opened one before comes back to it.

        Raises Refused.
        """
        command, made = _with_token(command, self._around.draw)
        while True:
            code = await self._opened(visitor, command)
            room = await self._keeping.found(code)
            if room is None:
                raise gone(command)
            if await room.enter(visitor, command, made):
                return

    async def _check_key(self, visitor: Visitor, key: str | None) -> None:
        if self._access_key is None:
            return
        async with self._failures.trying(visitor.address, None):
            if not hmac.compare_digest((key or "").encode(), self._access_key.encode()):
                raise Refused(
                    ErrorCode.BAD_KEY,
                    "Opening a room here needs the server's access key; ask its host.",
                )

    def _check_name(self, command: _Named) -> None:
        """Hold a name to this server's limit, where that is below the protocol's."""
        most = self._around.bounds.max_name_length
        if len(clean_name(command.name) or "") > most:
            self._around.metrics.limited(Limit.NAME)
            raise Refused(
                ErrorCode.BAD_NAME, f"A name has at most {most} characters here; choose another."
            )

    async def _opened(self, visitor: Visitor, command: c.Create) -> str:
        """The code of the room that this token has opened, just now or before."""
        token = command.token or ""
        for attempt in range(CODES_TRIED):
            code = room_code(token, attempt)
            known = await self._keeping.header(code)
            if known is None:
                known = await self._open(visitor, code, command)
            if is_among(token_hash(token), known.tokens):
                return code
        raise Refused(ErrorCode.SERVER_FULL, "No free room code was found; try again.")

    async def _open(self, visitor: Visitor, code: str, command: c.Create) -> Header:
        await self._check_key(visitor, command.key)
        self._check_name(command)
        token = command.token or ""
        # What is wrong with it, or too much, is found before there is any work.
        events = open_room(command, token, None)
        address, local = visitor.address, visitor.local
        with self._hosting.opening(code, address, local=local):
            self._budgets.pay(code, address, 1, local=local)
            if command.passcode:
                passcode = await self._passcodes.hash(command.passcode, address)
                events = open_room(command, token, passcode)
            room = advance(Room(code=code), 1, 0, events)
            draft = Draft(number=1, id=new_id(), previous="", payload=write_events(events))
            try:
                outcome = await self._journal.append(
                    code, draft, header=header(room), ttl=self._lifetimes.of(room)
                )
            except Unavailable:
                raise unavailable() from None
        if isinstance(outcome, Stored):
            self._around.metrics.room_opened()
            log.info("room_opened", room=code, variant=room.rules.variant)
            return read_header(header(room))
        return await self._keeping.header(code) or read_header(header(Room(code=code)))

    async def enter(self, visitor: Visitor, command: c.Join | c.Resume | c.Watch) -> None:
        """Let a visitor into a room. Raises Refused; what the room refuses it answers itself."""
        made: str | None = None
        if isinstance(command, c.Join):
            command, made = _with_token(command, new_token)
        code = await self._admitted(visitor, command)
        while True:
            room = await self._keeping.found(code)
            if room is None:
                raise unknown(command)
            if await room.enter(visitor, command, made):
                return

    async def look(self, visitor: Visitor, command: c.Look) -> RoomFrame:
        """What a room plays and who sits there. Raises Refused."""
        code = await self._admitted(visitor, command)
        live = await self._keeping.found(code)
        if live is None:
            raise unknown(command)
        room = live.room
        return RoomFrame(
            re=command.id,
            room=code,
            rules=wire_rules(room.rules),
            settings=room.settings,
            phase=room.phase,
            seats=seats(room, live.online),
            passcode=room.passcode is not None,
        )

    async def _admitted(self, visitor: Visitor, command: _Naming) -> str:
        """The code of the room that a command's token or passcode opens. Raises Refused."""
        code = read_code(command.room)
        known = None if code is None else await self._keeping.header(code)
        if known is None or not _holds(command, known):
            if isinstance(command, c.Join | c.Watch):
                self._check_name(command)
            async with self._failures.trying(visitor.address, code):
                await self._check_stranger(visitor, command, known)
        return code or ""

    async def _check_stranger(
        self, visitor: Visitor, command: _Naming, known: Header | None
    ) -> None:
        """Turn away who knows too little: the work is the same whatever there is to know."""
        if isinstance(command, c.Resume):
            raise bad_token()
        if known is not None and known.passcode is None and not command.passcode:
            return
        kept = None if known is None else known.passcode
        right = await self._passcodes.matches(command.passcode, kept, visitor.address)
        if known is None:
            raise unknown(command)
        if kept is not None and not right:
            raise Refused(ErrorCode.WRONG_PASSCODE, "That passcode doesn't open this room.")

    async def ask(self, visitor: Visitor, command: c.Command) -> bool:
        """Leave a command with the visitor's room; whether there was room in its inbox."""
        live = visitor.room
        if live is None:
            raise Refused(ErrorCode.NOT_IN_A_ROOM, "Create or join a room first.")
        passcode = None
        # Hashing is for the host alone: it is work, and a look at the present passcode.
        seat = visitor.seat
        if isinstance(command, c.Configure) and seat is not None and live.room.host == seat:
            passcode = await self._kept(command.passcode, live.room, visitor.address)
        return live.ask(visitor, command, passcode)

    async def _kept(self, passcode: str | None, room: Room, address: str) -> str | None:
        """The hash of a passcode: the present one if that is the same, so nothing changes."""
        present = room.passcode
        if not passcode:
            return None
        if present is not None and await self._passcodes.matches(passcode, present, address):
            return present
        # The same word sent twice at once is the same hash, and so changes nothing, either.
        return await self._passcodes.hash(passcode, address, room.code)

    async def stop(self) -> None:
        """Let every room finish what is under way, and stop; a store that hangs isn't awaited."""
        await self._keeping.stop()

    async def close(self) -> None:
        """Stop, and end what is left."""
        await self._keeping.close()
        await ended(self._shares)
        self._passcodes.close()


def _with_token(command: _Tokened, draw: Callable[[], str]) -> tuple[_Tokened, str | None]:
    """The command with a token, and the token if it had none. Raises Refused: bad_token."""
    if command.token is None:
        made = draw()
        return replace(command, token=made), made
    if not is_token(command.token):
        raise Refused(
            ErrorCode.BAD_TOKEN, "A token has 22 to 64 letters, digits, dashes and underscores."
        )
    return command, None


def _holds(command: _Naming, known: Header) -> bool:
    """Whether a command comes with a token that holds a seat."""
    token = command.token if isinstance(command, c.Join | c.Resume) else None
    return token is not None and is_among(token_hash(token), known.tokens)

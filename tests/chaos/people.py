"""People who play through whatever happens: they reconnect, try the other door, ask again."""

import asyncio
import random
from collections.abc import Sequence
from time import monotonic
from typing import Final, NamedTuple, Protocol, TypeAlias

from msgspec.structs import replace
from websockets.exceptions import ConnectionClosed, WebSocketException

from scopa_protocol import commands as c
from scopa_protocol.codec import JSON, MSGPACK
from scopa_protocol.codes import RETRYABLE, ErrorCode
from scopa_protocol.frames import Bye, Error, Joined, ServerFrame, Update
from scopa_protocol.views import View
from support.player import Player

ANSWERED_WITHIN: Final = 4.0
"""Seconds without an answer after which a line is taken for dead. A slow store isn't one."""
LONGEST: Final = 30.0
LOOKS_EVERY: Final = 0.25
QUIET: Final = 2.0
"""Seconds without a frame after which a person asks whether the line lives."""

LOST: Final = (OSError, EOFError, WebSocketException, TimeoutError)
Entering: TypeAlias = c.Create | c.Join | c.Resume | c.Watch


class Accepted(NamedTuple):
    """A play that was answered with success, when it was first sent and when answered."""

    play: c.Play
    sent: float
    answered: float


class Shown(Protocol):
    """Keeps what people are shown."""

    def __call__(self, who: "Person", view: View) -> None:
        """Note a view."""
        ...


class Over(Exception):
    """The table has ended for this person; the reason as they read it."""


class Person:
    """Somebody at a table, or watching it. `doors` are the URLs to try, the first at first."""

    def __init__(
        self, name: str, doors: Sequence[str], entering: Entering, shown: Shown, *, seed: int
    ) -> None:
        self.name = name
        self.doors = list(doors)
        self.entering = entering
        self.shown = shown
        self.chance = random.Random(seed)
        self.player: Player | None = None
        self.accepted: list[Accepted] = []
        self.refused: list[str] = []
        self.over: str | None = None
        self.resting = False
        """Whether to make no move for now."""
        self.think = 0.03
        self.patience = ANSWERED_WITHIN
        self.lines = 0
        self._open: c.Play | None = None
        self._sent = 0.0
        self._used = 0

    @property
    def view(self) -> View:
        """What this person was shown last."""
        assert self.player is not None
        assert self.player.view is not None
        return self.player.view

    # Lines

    async def live(self) -> None:
        """Play until the table is over."""
        pause = 0.05
        while True:
            try:
                if self.player is None:
                    await self.connect()
                pause = 0.05
                await self._turn()
            except Over as over:
                self.over = str(over)
                self.abandon()
                return
            except LOST as fault:
                if isinstance(fault, TimeoutError):
                    # On a busy machine everything is slow, and nobody may give up for ever.
                    self.patience = min(LONGEST, self.patience * 1.5)
                self.abandon()
                await asyncio.sleep(pause * self.chance.uniform(0.5, 1))
                pause = min(1.0, pause * 2)

    async def connect(self) -> None:
        """Enter through the next door."""
        door = self.doors[self.lines % len(self.doors)]
        self.lines += 1
        player = Player(door, codec=MSGPACK if self.lines % 2 else JSON)
        try:
            async with asyncio.timeout(self.patience):
                await player.__aenter__()
            self.player, self._used = player, 0
            answer = await self._do(self.entering)
        except BaseException:
            abort(player)
            self.player = None
            raise
        if isinstance(answer, Error):
            self.abandon()
            if answer.code in RETRYABLE or answer.code == ErrorCode.INTERNAL_ERROR:
                raise ConnectionError(answer.code)
            raise Over(answer.code)
        assert isinstance(answer, Joined), answer
        if isinstance(self.entering, c.Create):
            self.entering = c.Resume(room=answer.room, token=self.entering.token or "")
        if self._open is not None and not isinstance(self.entering, c.Watch):
            await self._play(self._open)

    def abandon(self) -> None:
        """Drop the line without a word."""
        if self.player is not None:
            abort(self.player)
            self.player = None

    def lose_line(self) -> None:
        """The line is gone, as `live` will see."""
        if self.player is not None:
            abort(self.player)

    # Frames

    async def _receive(self) -> ServerFrame:
        assert self.player is not None
        try:
            frame = await self.player.receive()
        except ConnectionClosed:
            self._note_end(self.player)
            raise
        self._note()
        return frame

    def _note(self) -> None:
        assert self.player is not None
        for frame in self.player.frames[self._used :]:
            if isinstance(frame, Joined | Update):
                self.shown(self, frame.view)
        self._used = len(self.player.frames)

    def _note_end(self, player: Player) -> None:
        byes = [frame for frame in player.frames if isinstance(frame, Bye)]
        if byes and not byes[-1].retry:
            raise Over(byes[-1].code)

    async def _do(self, command: c.Command) -> ServerFrame:
        assert self.player is not None
        try:
            async with asyncio.timeout(self.patience):
                return await self.player.do(command)
        except ConnectionClosed:
            self._note_end(self.player)
            raise
        finally:
            if self.player is not None:
                self._note()

    async def do(self, command: c.Command) -> None:
        """Do something that must be accepted."""
        answer = await self._do(command)
        assert isinstance(answer, Update), answer

    # Moves

    async def _turn(self) -> None:
        move = None if self.resting or self.view.you is None else self._move()
        if move is None:
            await self._listen()
            return
        await asyncio.sleep(self.think * self.chance.random())
        if isinstance(move, c.Play):
            await self._play(move)
        else:
            self._take(await self._do(move))

    def _move(self) -> c.Command | None:
        view = self.view
        if view.phase == "match_over":
            return c.Start() if view.host == view.you else None
        assert self.player is not None
        return self.player.next_move(self.chance)

    async def _listen(self) -> None:
        begun = monotonic()
        while monotonic() - begun < QUIET:
            try:
                async with asyncio.timeout(LOOKS_EVERY):
                    await self._receive()
                return
            except TimeoutError:
                if not self.resting and self.view.you is not None and self._move() is not None:
                    return
        await self._do(c.Ping())

    async def _play(self, play: c.Play) -> None:
        if play != self._open:
            self._open, self._sent = play, monotonic()
        answer = await self._do(play)
        self._take(answer)
        if isinstance(answer, Update):
            self.accepted.append(Accepted(play, self._sent, monotonic()))
        if not (isinstance(answer, Error) and answer.code in RETRYABLE):
            self._open = None
        if isinstance(answer, Error):
            await self._after_refusal()

    def _take(self, answer: ServerFrame) -> None:
        if isinstance(answer, Error):
            self.refused.append(answer.code)

    async def _after_refusal(self) -> None:
        """The view was old, or the store is away: see what comes before trying again."""
        try:
            async with asyncio.timeout(LOOKS_EVERY):
                await self._receive()
        except TimeoutError:
            pass


def abort(player: Player) -> None:
    """End a line at once; one that was never open has nothing to end."""
    socket = player._socket
    if socket is not None:
        socket.transport.abort()


def plain(view: View) -> View:
    """A view as the log alone makes it: without who is online, the clock, the log's id."""
    seats = [replace(seat, online=True) for seat in view.seats]
    return replace(view, log="", clock=None, watchers=[], seats=seats)

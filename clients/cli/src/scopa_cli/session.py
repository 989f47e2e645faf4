"""The line to a server: opens it, comes back when it drops, sends again what has no answer."""

import asyncio
from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct, structs
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from scopa_protocol import WIRE_VERSION
from scopa_protocol.codec import JSON
from scopa_protocol.codes import RETRYABLE
from scopa_protocol.commands import ClientCommand, Create, Join, Look, Resume, Watch
from scopa_protocol.frames import Bye, Error, Hello, Joined, ServerFrame

from .closing import Ending, verdict
from .dial import FAULTS, Dial, dial, fault_ending
from .heard import SOONEST, Busy, Got, Heard, Lost, Timing
from .outstanding import Outstanding, Waiting
from .patience import Patience
from .sense import readable

Opening: TypeAlias = Create | Join | Resume | Watch

MOST_TRIES: Final = 6
"""How often a command is sent whose answer is to try again later."""
FIRST_DIALS: Final = 4
"""How often a server is called that has never been reached."""


class _Answering(Struct):
    type: str
    re: int | list[int] | None = None

    def numbers(self) -> list[int]:
        return self.re if isinstance(self.re, list) else [] if self.re is None else [self.re]


class Session:
    """One person's line to one server. `hear` is called with everything that happens on it."""

    def __init__(
        self,
        endpoint: str,
        hear: Callable[[Heard], None],
        *,
        timing: Timing | None = None,
        dialled: Dial = dial,
    ) -> None:
        self.endpoint = endpoint
        self._hear = hear
        self._timing = timing or Timing()
        self._dial = dialled
        self._outstanding = Outstanding()
        self._opening: Waiting | None = None
        self._comeback: Opening | Look | None = None
        self._work = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopped: asyncio.Future[Ending] | None = None
        self._ending: Ending | None = None
        self._later: set[asyncio.Task[None]] = set()
        self._hurried = asyncio.Event()
        self._patience = Patience(self._timing.answer_seconds, self._give_up)
        self._ws: ClientConnection | None = None
        self._greeted = self._inside = self._silent = self._was_inside = False
        self._ever_greeted = self._asked = False
        self._entered = asyncio.Event()
        self._bye: Bye | None = None

    def open(self, command: Opening | Look) -> None:
        """Enter a room, or look at it, with this command: now and whenever the line comes back."""
        numbered = structs.replace(command, id=self._outstanding.number())
        self._opening = Waiting(command=numbered, original=None)
        self._comeback = command
        self._wake()

    def send(self, command: ClientCommand) -> None:
        """Send a command as soon as the line allows, again and again until it is answered."""
        self._outstanding.add(command)
        self._idle.clear()
        self._wake()

    @property
    def connected(self) -> bool:
        """Whether the person is in a room, as far as is known."""
        return self._inside

    @property
    def down(self) -> bool:
        """Whether there is no line: it is being opened, or waits for its next try."""
        return self._ws is None

    def hurry(self) -> None:
        """Cut the wait for the next try short; a try that is under way goes on."""
        self._hurried.set()

    @property
    def waiting(self) -> int:
        """How many commands have no answer yet."""
        return len(self._outstanding)

    @property
    def asked(self) -> bool:
        """Whether a command that enters a room was ever sent."""
        return self._asked

    async def settled(self) -> None:
        """Wait until the room is entered and every command answered."""
        await self._entered.wait()
        await self._idle.wait()

    async def idle(self) -> None:
        """Wait until every command is answered."""
        await self._idle.wait()

    def stop(self, ending: Ending) -> None:
        """End the session; `run` returns this."""
        self._ending = self._ending or ending
        if self._stopped is not None and not self._stopped.done():
            self._stopped.set_result(self._ending)

    async def run(self) -> Ending:
        """Keep the line up until it ends for good."""
        self._stopped = asyncio.get_running_loop().create_future()
        if self._ending is not None:
            return self._ending
        life = asyncio.create_task(self._keep_up())
        try:
            await asyncio.wait({life, self._stopped}, return_when=asyncio.FIRST_COMPLETED)
            return self._stopped.result() if self._stopped.done() else life.result()
        finally:
            for task in (life, *self._later):
                task.cancel()
            await asyncio.gather(life, *self._later, return_exceptions=True)

    async def _keep_up(self) -> Ending:
        waits = self._timing.delays()
        failures = 0
        while True:
            ending = await self._live()
            if not ending.retry:
                return ending
            if self._was_inside:
                waits, self._was_inside = self._timing.delays(), False
            failures += 1
            if not self._ever_greeted and failures >= FIRST_DIALS:
                why = f"{ending.why} Check the address, and that the server runs."
                return structs.replace(ending, why=why, retry=False, code=1)
            delay = next(waits)
            self._hear(Lost(why=ending.why, delay=delay))
            await self._rest(delay)

    async def _rest(self, seconds: float) -> None:
        """Wait for the next try: so long, or shorter for who hurries."""
        self._hurried.clear()
        soonest = min(seconds, SOONEST)
        await self._timing.pause(soonest)
        if seconds == soonest:
            return
        rest = asyncio.ensure_future(self._timing.pause(seconds - soonest))
        hurried = asyncio.create_task(self._hurried.wait())
        try:
            await asyncio.wait({rest, hurried}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            rest.cancel()
            hurried.cancel()

    async def _live(self) -> Ending:
        """One connection, from dialling to its close."""
        self._greeted = self._silent = False
        self._bye = None
        try:
            ws = await self._dial(self.endpoint)
        except FAULTS as fault:
            return fault_ending(self.endpoint, fault)
        self._ws = ws
        self._patience.start()
        writer = asyncio.create_task(self._write(ws))
        try:
            async for data in ws:
                self._take(data if isinstance(data, bytes) else data.encode())
        except ConnectionClosed:
            pass
        finally:
            await self._hang_up(ws, writer)
        return verdict(ws.close_code, self._bye, silent=self._silent)

    async def _hang_up(self, ws: ClientConnection, writer: asyncio.Task[None]) -> None:
        self._patience.end()
        self._inside = False
        self._ws = None
        self._outstanding.line_lost()
        if self._opening is None and self._comeback is not None:
            self.open(self._comeback)
        elif self._opening is not None:
            self._opening.sent = False
        writer.cancel()
        await asyncio.gather(writer, return_exceptions=True)
        await ws.close()

    async def _write(self, ws: ClientConnection) -> None:
        try:
            while True:
                await self._work.wait()
                self._work.clear()
                for command in self._due():
                    await ws.send(JSON.encode(command).decode())
                    self._patience.start()
        except ConnectionClosed:
            return

    def _due(self) -> list[ClientCommand]:
        if not self._greeted:
            return []
        opening = self._opening
        if opening is not None and not opening.sent and not opening.held:
            opening.sent = True
            self._asked = self._asked or not isinstance(opening.command, Look)
            opening.tries += 1
            return [opening.command]
        return self._outstanding.due() if self._inside else []

    def _wake(self) -> None:
        self._work.set()

    def _progress(self, answered: bool) -> None:
        if answered or not self._owes():
            self._patience.end()
        if self._owes():
            self._patience.start()

    def _give_up(self) -> None:
        self._silent = True
        if self._ws is not None:
            self._ws.transport.abort()

    def _owes(self) -> bool:
        opening = self._opening is not None and self._opening.sent
        return not self._greeted or opening or self._outstanding.in_flight()

    def _take(self, data: bytes) -> None:
        try:
            numbers = msgspec.json.decode(data, type=_Answering).numbers()
        except ValueError:
            return
        frame = readable(data, self.endpoint)
        opening = self._settle_opening(numbers, frame)
        answers = self._outstanding.settle(numbers)
        self._note(frame)
        if isinstance(frame, Error) and frame.code in RETRYABLE:
            answers = [waiting for waiting in answers if not self._again(waiting, frame)]
            if not answers and (numbers and not opening):
                return
        self._progress(bool(answers) or opening or isinstance(frame, Hello))
        if not self._outstanding:
            self._idle.set()
        self._wake()
        self._hear(Got(frame=frame, data=data, answers=answers, opening=opening))

    def _settle_opening(self, numbers: list[int], frame: ServerFrame | None) -> bool:
        opening = self._opening
        if opening is None or opening.command.id not in numbers:
            return False
        if isinstance(frame, Error) and frame.code in RETRYABLE and self._again(opening, frame):
            return False
        self._opening = None
        if isinstance(frame, Joined):
            self._enter(opening.command, frame)
        return True

    def _enter(self, command: ClientCommand, frame: Joined) -> None:
        self._inside = self._was_inside = True
        self._entered.set()
        token = frame.token or getattr(command, "token", None)
        if frame.seat is not None and token:
            self._comeback = Resume(room=frame.room, token=token)

    def _note(self, frame: ServerFrame | None) -> None:
        if isinstance(frame, Bye):
            self._bye = frame
        elif isinstance(frame, Hello):
            self._greeted = self._ever_greeted = True
            if frame.version != WIRE_VERSION:
                self.stop(Ending(why=_other_version(frame), code=1))

    def _again(self, waiting: Waiting, error: Error) -> bool:
        """Send a command once more after a while; False when it was tried often enough."""
        if waiting.tries >= MOST_TRIES:
            return False
        delay = _asked_delay(error)
        if delay is None:
            waits = self._timing.delays()
            delay = [next(waits) for _ in range(waiting.tries)][-1]
        if waiting is self._opening:
            waiting.sent, waiting.held = False, True
        else:
            self._outstanding.put_off(waiting)
        self._hear(Busy(error=error, delay=delay))
        task = asyncio.create_task(self._release(waiting, delay))
        self._later.add(task)
        task.add_done_callback(self._later.discard)
        return True

    async def _release(self, waiting: Waiting, delay: float) -> None:
        await self._timing.pause(delay)
        self._outstanding.release(waiting)
        self._wake()


def _asked_delay(error: Error) -> float | None:
    milliseconds = (error.details or {}).get("retry_ms")
    if isinstance(milliseconds, int | float) and 0 <= milliseconds <= 600_000:
        return milliseconds / 1000
    return None


def _other_version(hello: Hello) -> str:
    return (
        f"The server speaks version {hello.version} of the protocol, this client "
        f"version {WIRE_VERSION}: update the older of the two."
    )

"""Keeps one worker alive: started, watched, started again when it dies, ended when asked."""

import asyncio
import pickle
import signal
import socket
import sys
from asyncio.subprocess import Process
from contextlib import nullcontext, suppress
from typing import Final

import structlog

from scopa_server.config import Config
from scopa_server.workers import WORKER
from scopa_server.workers.line import Gone, Line, Question
from scopa_server.workers.switchboard import Switchboard

_STEADY_SECONDS: Final = 60.0
"""Who has lived that long is started again at once, whatever was before."""
_FIRST_DELAY: Final = 0.1
_LONGEST_DELAY: Final = 30.0
_ANSWER_SECONDS: Final = 1.5
_END_SECONDS: Final = 25.0
"""A worker's own way down takes less."""
_NEVER_BEGUN: Final = 127
_ENDED_IN_ORDER: Final = {0, -signal.SIGTERM, -signal.SIGINT, 130}
"""Who is told to stop before it listens to signals ends by them, or as Python does (130)."""
_SILENT: Final = "a worker ended before it could serve; see the log"

_log = structlog.stdlib.get_logger()


class Keeper:
    """One worker, over all its lives."""

    def __init__(self, number: int, config: Config, switchboard: Switchboard | None = None) -> None:
        self.number = number
        self._switchboard = switchboard
        self.restarts = 0
        self.outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Why the first life can't serve, which is then the last; empty if it serves."""
        self._config = config
        self._stop = asyncio.Event()
        self._process: Process | None = None
        self._line: Line | None = None
        self._stale = False
        self._turns = asyncio.Lock()
        self._asked: dict[Question, asyncio.Task[bytes | None]] = {}
        self._task = asyncio.create_task(self._keep(), name=f"worker-{number}")

    @property
    def pid(self) -> int | None:
        """The process, if there is one."""
        return None if self._process is None else self._process.pid

    def send(self, number: signal.Signals) -> None:
        """Pass a signal on."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    def reload(self) -> None:
        """Have the certificate read anew: at once, or once the worker can be told."""
        self._stale = self._line is None
        if not self._stale:
            self.send(signal.SIGHUP)

    async def stop(self) -> bool:
        """Let it end in order, and wait; whether it did."""
        self._stop.set()
        self.send(signal.SIGTERM)
        done, _ = await asyncio.wait([self._task], timeout=_END_SECONDS)
        if not done:
            _log.error("worker_killed", worker=self.number)
            self.send(signal.SIGKILL)
            await asyncio.wait([self._task])
        return bool(done) and self._task.result()

    async def ask(self, question: Question) -> bytes | None:
        """The worker's answer; None if there is none, or none in time."""
        asked = self._asked.get(question)
        if asked is None:
            # Whoever asks the same meanwhile hears the same: a worker that hangs is asked once.
            asked = self._asked[question] = asyncio.create_task(self._ask(question))
            asked.add_done_callback(lambda _: self._asked.pop(question))
        await asyncio.wait([asked], timeout=_ANSWER_SECONDS)
        return asked.result() if asked.done() else None

    async def _ask(self, question: Question) -> bytes | None:
        line = self._line
        try:
            async with self._turns:
                if line is None:
                    return None
                await line.send(question)
                return await line.receive()
        except Gone:
            return None

    async def _keep(self) -> bool:
        """Whether the last life ended in order."""
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            began = loop.time()
            status = await self._live()
            if self._stop.is_set():
                return status in _ENDED_IN_ORDER
            if self.outcome.result():
                return False
            failures = 0 if loop.time() - began >= _STEADY_SECONDS else failures + 1
            delay = delay_after(failures)
            _log.error("worker_ended", worker=self.number, status=status, again_in=delay)
            with suppress(TimeoutError):
                async with asyncio.timeout(delay):
                    await self._stop.wait()
            if self._stop.is_set():
                return True
            self.restarts += 1

    async def _live(self) -> int:
        """One life; its exit status, negative for a signal."""
        try:
            ours, self._process, introductions = await self._started()
        except OSError as fault:
            # No process, file or memory to be had, or the program is being replaced.
            self._settle(f"a worker can't be started: {fault.strerror}")
            return _NEVER_BEGUN
        if self._stop.is_set():
            self.send(signal.SIGTERM)
        settings = pickle.dumps((self._config, introductions))
        status = await self._accompany(self._process, await Line.over(ours), settings)
        if not self.outcome.done():
            self.outcome.set_result(_SILENT)
        return status

    async def _started(self) -> tuple[socket.socket, Process, int | None]:
        """A process, our end of the line to it, and its file of introductions. Raises OSError."""
        ours, theirs = socket.socketpair()
        command = (*_command(), WORKER, str(self.number))
        try:
            with theirs, self._introductions() or nullcontext() as introductions:
                files = () if introductions is None else (introductions.fileno(),)
                process = await asyncio.create_subprocess_exec(
                    *command, stdin=theirs.fileno(), pass_fds=files
                )
            return ours, process, files[0] if files else None
        except OSError:
            ours.close()
            raise

    def _introductions(self) -> socket.socket | None:
        return None if self._switchboard is None else self._switchboard.begin(self.number)

    async def _accompany(self, process: Process, line: Line, settings: bytes) -> int:
        with suppress(Gone):
            await line.send(settings)
            self._begun(line, (await line.receive()).decode())
        status = await process.wait()
        self._process = self._line = None
        if self._switchboard is not None:
            self._switchboard.end(self.number)
        line.close()
        return status

    def _begun(self, line: Line, why_not: str) -> None:
        if not why_not:
            self._line = line
            _log.info("worker_serves", worker=self.number, pid=self.pid)
            if self._stale:
                self.reload()
        self._settle(why_not)

    def _settle(self, why_not: str) -> None:
        if not self.outcome.done():
            self.outcome.set_result(why_not)
        elif why_not:
            _log.error("worker_cannot_serve", worker=self.number, reason=why_not)


def delay_after(failures: int) -> float:
    """Seconds to wait after so many short lives in a row."""
    return min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** min(failures, 10))


def _command() -> list[str]:
    """How this program was called, without its options: they may hold secrets."""
    options = len(sys.argv) - 1
    return [sys.executable, *sys.orig_argv[1 : len(sys.orig_argv) - options]]

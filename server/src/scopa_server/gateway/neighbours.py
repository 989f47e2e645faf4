"""The other workers of this machine: connections handed to them, and taken from them.

A handover spares the work of serving one table at two workers, and nothing depends on it: whatever
stands in its way, the connection is served where it is.
"""

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

import structlog

from scopa_protocol import commands as c
from scopa_server.live.time import Time
from scopa_server.metrics import Handed, Metrics

from .handover import MOST_UNREAD, Handover, Movable
from .homes import destination, home, token_at
from .neighbour import Go, Message, Neighbour, Offer, Ready, Refused, Stay, Taken

PATIENCE: Final = 0.5
"""Seconds that another worker has to answer an offer; meanwhile a command waits."""

_REASONS: Final = {reason.value: reason for reason in Handed}
"""A worker that was started later may be of another release, and have more of them."""

log = structlog.stdlib.get_logger()


class Host(Protocol):
    """Who serves what other workers hand over."""

    def expect(self, counted: str | None) -> Handed | None:
        """Keep a place for a connection that is counted so; why not, or None."""

    def dismiss(self, counted: str | None) -> None:
        """Keep it no more."""

    async def take_in(self, line: socket.socket, came: Handover) -> None:
        """Serve what a place was kept for. Raises OSError."""


class Neighbours:
    """The other workers, by number. `number`: of this one; `workers`: how many there are."""

    def __init__(self, number: int, workers: int, time: Time, metrics: Metrics) -> None:
        self._number = number
        self._workers = workers
        self._time = time
        self._metrics = metrics
        self._host: Host | None = None
        self._all: dict[int, Neighbour] = {}
        self._introductions: socket.socket | None = None
        self._arriving: set[asyncio.Task[None]] = set()
        self._stopping = False

    @property
    def all(self) -> tuple[Neighbour, ...]:
        """Those that live."""
        return tuple(self._all.values())

    def token(self) -> str:
        """A fresh token, whose room is most likely at home here."""
        return token_at(self._number, self._workers)

    # Meeting

    def listen(self, introductions: socket.socket) -> None:
        """Meet those whom the supervisor introduces: a byte for the number, and a line to it."""
        introductions.setblocking(False)
        self._introductions = introductions
        asyncio.get_running_loop().add_reader(introductions.fileno(), self._introduced)

    def meet(self, number: int, end: socket.socket) -> None:
        """Have a line to another worker, instead of any to its life before."""
        if number in self._all:
            self._all[number].close()
        self._all[number] = met = Neighbour(number, end, self._hear, self._lost)
        if self._host is not None:
            met.tell(Ready())

    def open(self, host: Host) -> None:
        """Take connections in from now on."""
        self._host = host
        for neighbour in self.all:
            neighbour.tell(Ready())

    def stop(self) -> None:
        """Take and give no more; what was given already still comes."""
        self._stopping = True

    async def close(self) -> None:
        """End all lines."""
        self.stop()
        if self._introductions is not None:
            asyncio.get_running_loop().remove_reader(self._introductions.fileno())
            self._introductions.close()
        for neighbour in self.all:
            neighbour.close()
        for task in self._arriving:
            task.cancel()
        await asyncio.gather(*self._arriving, return_exceptions=True)

    def _introduced(self) -> None:
        held = self._introductions
        assert held is not None
        try:
            while True:
                data, files, _, _ = socket.recv_fds(held, 1, 1)
                if not data:
                    # The supervisor is gone, and so are we soon.
                    break
                if files:
                    self.meet(data[0], socket.socket(fileno=files[0]))
        except BlockingIOError:
            return
        except OSError:
            log.exception("introductions_fault")
        asyncio.get_running_loop().remove_reader(held.fileno())

    # Giving

    def where(self, command: c.Command) -> int | None:
        """The worker that a command's room is at home at; None: here, or it doesn't matter."""
        code = destination(command)
        number = self._number if code is None else home(code, self._workers)
        return None if number == self._number else number

    def note(self, outcome: Handed) -> None:
        """Count what became of a connection that is at home elsewhere."""
        self._metrics.handed_over(outcome)

    async def hand_over(
        self, line: Movable, to: int, pack: Callable[[], Handover], stays: Callable[[], bool]
    ) -> bool:
        """Let another worker go on with a connection; whether it does.

        `pack` says what goes with it, `stays` whether it must not go any more. When this returns
        true it is gone from here.
        """
        neighbour = self._all.get(to)
        outcome = self._hindrance(neighbour)
        if neighbour is not None and outcome is None:
            line.hold()
            try:
                outcome = await self._given(line, neighbour, pack, stays)
            finally:
                if not line.left:
                    line.go_on()
        if outcome is not None:
            self.note(outcome)
            log.debug("served_here", reason=outcome.value, home=to)
            return False
        self.note(Handed.DONE)
        log.debug("handed_over", home=to)
        await line.wait_closed()
        return True

    def _hindrance(self, neighbour: Neighbour | None) -> Handed | None:
        """Why another worker need not be asked, or None."""
        if self._stopping:
            return Handed.STOPPING
        if neighbour is None or not neighbour.ready:
            return Handed.AWAY
        return Handed.SLOW if neighbour.late else None

    async def _given(
        self,
        line: Movable,
        neighbour: Neighbour,
        pack: Callable[[], Handover],
        stays: Callable[[], bool],
    ) -> Handed | None:
        """Why a connection was not given to another worker; None if it was."""
        packed = pack() if line.is_between else None
        if packed is None or len(packed.received) > MOST_UNREAD:
            return Handed.UNFIT
        number = neighbour.offer(line.fileno, packed)
        if number is None:
            return Handed.BUSY
        try:
            why = await self._answer(neighbour, number)
            line.flush()
            if why is None and (stays() or not (line.is_between and line.is_written)):
                why = Handed.UNFIT
            if why is None and not neighbour.go(number):
                why = Handed.BUSY
        except BaseException:
            neighbour.tell(Stay(number))
            raise
        if why is None:
            line.leave()
        else:
            neighbour.tell(Stay(number))
        return why

    async def _answer(self, neighbour: Neighbour, number: int) -> Handed | None:
        """Why another worker doesn't take what it was offered, or None."""
        answer = neighbour.offered[number]
        late = partial(_settle, answer, Handed.SLOW)
        patience = self._time.call_at(self._time.now() + PATIENCE, late)
        try:
            return await answer
        finally:
            patience.cancel()
            if neighbour.offered.pop(number, None) is not None:
                neighbour.late.add(number)

    # Taking

    def _hear(self, neighbour: Neighbour, message: Message, line: socket.socket | None) -> None:
        match message:
            case Ready():
                neighbour.ready = True
            case Offer():
                why = self._considered(neighbour, message, line)
                if why is None:
                    neighbour.tell(Taken(message.number))
                    return
                neighbour.tell(Refused(message.number, why.value))
            case Taken(number) | Refused(number):
                _answered(neighbour, number, getattr(message, "why", None))
            case Go(number):
                if number in neighbour.held:
                    self._begin(*neighbour.held.pop(number))
                return
            case Stay(number):
                self._drop(neighbour, number)
        if line is not None:
            line.close()

    def _considered(
        self, neighbour: Neighbour, offer: Offer, line: socket.socket | None
    ) -> Handed | None:
        """Why an offer isn't taken; None if a place is kept."""
        if self._host is None or self._stopping:
            return Handed.STOPPING
        if line is None:
            # There was no file left to be had.
            return Handed.FULL
        why = self._host.expect(offer.handover.counted)
        if why is None:
            neighbour.held[offer.number] = line, offer.handover
        return why

    def _begin(self, line: socket.socket, came: Handover) -> None:
        task = asyncio.create_task(self._taken_in(line, came), name="arrival")
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)

    async def _taken_in(self, line: socket.socket, came: Handover) -> None:
        assert self._host is not None
        try:
            await self._host.take_in(line, came)
        except Exception:
            # Its client sees the end, and comes back.
            log.exception("arrival_fault")
            line.close()

    def _drop(self, neighbour: Neighbour, number: int) -> None:
        if number in neighbour.held:
            line, came = neighbour.held.pop(number)
            line.close()
            if self._host is not None:
                self._host.dismiss(came.counted)

    def _lost(self, neighbour: Neighbour) -> None:
        """Nobody is there any more: what it was offered stays here, what it has offered is gone."""
        for answer in neighbour.offered.values():
            _settle(answer, Handed.AWAY)
        for number in tuple(neighbour.held):
            self._drop(neighbour, number)
        if self._all.get(neighbour.number) is neighbour:
            del self._all[neighbour.number]


def _answered(neighbour: Neighbour, number: int, why: str | None) -> None:
    neighbour.late.discard(number)
    answer = neighbour.offered.pop(number, None)
    if answer is not None:
        _settle(answer, None if why is None else _REASONS.get(why, Handed.BUSY))


def _settle(answer: "asyncio.Future[Handed | None]", why: Handed | None) -> None:
    if not answer.done():
        answer.set_result(why)

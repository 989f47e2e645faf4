"""Answers to `history`: a room's log read and folded beside its decisions, never in their way.

One request after another, so they are answered in the order they came. What was folded stays for
the next request; a page of deals older than those kept is folded again from the log's beginning.
"""

import asyncio
from collections import deque
from typing import Final, TypeAlias

import structlog

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_protocol.frames import HistoryFrame
from scopa_server.room.events import read_events
from scopa_server.room.history import Chronicle
from scopa_server.room.refused import Refused

from .answers import Answers
from .ledger import Ledger
from .visitor import Visitor

log = structlog.stdlib.get_logger()

PAGE: Final = 10
"""Deals in one frame, at most."""
AT_ONCE: Final = 32
"""Commits that are folded before others have their turn."""

Request: TypeAlias = tuple[Visitor, c.History]


class Historian:
    """Answers the `history` commands of one live room."""

    def __init__(self, ledger: Ledger, answers: Answers) -> None:
        self._ledger = ledger
        self._answers = answers
        self._waiting: deque[Request] = deque()
        self._task: asyncio.Task[None] | None = None
        self._latest = _Reading(ledger)

    def ask(self, visitor: Visitor, command: c.History) -> None:
        """Leave a request; it is answered when those before it are."""
        visitor.asked += 1
        self._waiting.append((visitor, command))
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="history")

    def drop(self, refusal: Refused, visitor: Visitor | None = None) -> None:
        """Refuse what waits, of one visitor or of all."""
        waiting, self._waiting = self._waiting, deque()
        for request in waiting:
            if visitor is None or request[0] is visitor:
                self._answers.refuse(*request, refusal)
                request[0].asked -= 1
            else:
                self._waiting.append(request)

    async def close(self) -> None:
        """Stop reading."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _work(self) -> None:
        try:
            while self._waiting:
                await self._answer(self._waiting[0])
        finally:
            self._task = None

    async def _answer(self, request: Request) -> None:
        visitor, command = request
        outcome = await self._outcome(command)
        if not self._waiting or self._waiting[0] is not request:
            return
        self._waiting.popleft()
        visitor.asked -= 1
        if isinstance(outcome, Refused):
            self._answers.refuse(visitor, command, outcome)
        else:
            visitor.outbox.reply(outcome)
            self._answers.count(command)

    async def _outcome(self, command: c.History) -> HistoryFrame | Refused:
        try:
            return await self._page(command)
        except Refused as refusal:
            return refusal
        except Exception:
            log.exception("history_fault")
            return Refused(
                ErrorCode.INTERNAL_ERROR, "The server can't read what was played; try again later."
            )

    async def _page(self, command: c.History) -> HistoryFrame:
        if self._latest.is_beside():
            self._latest = _Reading(self._ledger)
        latest = await self._latest.read()
        numbers, after = latest.numbers(command.from_deal or 0, min(command.limit or PAGE, PAGE))
        kept = latest
        if not latest.deals.keys() >= set(numbers):
            kept = await _Reading(self._ledger, frozenset(numbers)).read()
        deals = [kept.deals[number] for number in numbers]
        return HistoryFrame(re=command.id, deals=deals, next=after)


class _Reading:
    """A log as far as it was read. Of the log that the ledger followed then."""

    def __init__(self, ledger: Ledger, only: frozenset[int] | None = None) -> None:
        self._ledger = ledger
        self._log_id = ledger.log_id
        self._top = ""
        self._chronicle = Chronicle(ledger.room.code, only)
        self._broken = False

    def is_beside(self) -> bool:
        """Whether this is no longer the room's log, or could not be read to its end."""
        return self._broken or self._log_id != self._ledger.log_id

    async def read(self) -> Chronicle:
        """Read on to the log's end. Raises Refused, and whatever a log that can't be read does."""
        commits = await self._ledger.commits(self._chronicle.room.seq)
        self._broken = True
        for number, commit in enumerate(commits, start=1):
            if commit.previous != self._top:
                raise LookupError("the log has a gap")
            self._chronicle.note(commit.number, commit.at, read_events(commit.payload))
            self._top = commit.id
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        self._broken = False
        return self._chronicle

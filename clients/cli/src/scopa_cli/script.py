"""The client for scripts: a line of JSON for each frame, and for each command."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from scopa_protocol.codec import JSON, BadMessage
from scopa_protocol.commands import Leave
from scopa_protocol.frames import Error, Joined, Update
from scopa_protocol.views import View

from .closing import INTERRUPTED, Ending
from .dial import Dial, dial
from .entry import Entry, watches
from .heard import Busy, Got, Heard, Lost, Timing
from .lines import line
from .output import Writer, error_writer, standard_writer
from .outstanding import Waiting
from .plain import LineReader
from .player import PARTING_SECONDS
from .session import Session
from .signals import on_interrupt

THREAD: Final = "stdin"


class Script:
    """One run with `--json`: frames on standard output, sentences about the line on the other."""

    def __init__(
        self,
        entry: Entry,
        *,
        show_token: bool,
        witness: Callable[[View], None] = lambda _: None,
        out: Writer | None = None,
        notes: Writer | None = None,
        timing: Timing | None = None,
        dialled: Dial = dial,
    ) -> None:
        self._entry = entry
        self._show_token = show_token
        self._witness = witness
        self._out = out or standard_writer()
        self._notes = notes or error_writer()
        self._session = Session(entry.endpoint, self.hear, timing=timing, dialled=dialled)
        self._parting: asyncio.Task[None] | None = None

    async def run(self, source: int = 0) -> int:
        """Run until the line ends for good or the script's commands do; the exit code."""
        import threading

        loop = asyncio.get_running_loop()
        on_interrupt(self._interrupted)
        reader = LineReader(source, loop, self.typed, self.no_more)
        threading.Thread(target=reader.run, name=THREAD, daemon=True).start()
        self._session.open(self._entry.command)
        ending = await self._session.run()
        self._end(ending)
        return ending.code

    def _interrupted(self) -> None:
        self._session.stop(Ending(why="", code=INTERRUPTED))

    def no_more(self) -> None:
        """The script's commands are at their end; a watcher goes on reading."""
        if not watches(self._entry.command):
            self._parting = asyncio.create_task(self._part())

    async def _part(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(PARTING_SECONDS):
                await self._session.settled()
        self._session.stop(Ending(why=""))

    def typed(self, text: str) -> None:
        """One command as a line of JSON."""
        if not text.strip():
            return
        try:
            self._session.send(JSON.decode_command(text.encode()))
        except BadMessage as bad:
            frame = {"type": "error", "code": "bad_message", "message": bad.reason}
            self._print(frame if bad.id is None else {**frame, "re": bad.id})

    def hear(self, heard: Heard) -> None:
        """Print a frame, or note what became of the line."""
        if isinstance(heard, Lost):
            self._note(f"{heard.why} Trying again in {heard.delay:.1f} s.")
        elif isinstance(heard, Busy):
            self._note(f"{heard.error.message or heard.error.code} Again in {heard.delay:.1f} s.")
        else:
            self._got(heard)

    def _got(self, got: Got) -> None:
        frame, seating = got.frame, self._entry.seating
        if seating is not None and isinstance(frame, Joined):
            seating.joined(frame)
        if seating is not None and isinstance(frame, Update):
            seating.moved(frame)
        if isinstance(frame, Joined | Update):
            self._witness(frame.view)
        self._print(self._public(got))
        if got.opening and isinstance(frame, Error):
            if seating is not None:
                seating.withdraw()
            self._session.stop(Ending(why="", code=1))
        if not isinstance(frame, Error) and any(
            isinstance(waiting.command, Leave) for waiting in got.answers
        ):
            self._session.stop(Ending(why="", seat_gone=True))

    def _public(self, got: Got) -> dict[str, Any]:
        """A frame as it came, with the script's own numbers, and the token only on demand."""
        shown: dict[str, Any] = json.loads(got.data)
        renumbered = renumber(shown.pop("re", None), got.answers)
        if renumbered:
            shown["re"] = renumbered
        if isinstance(got.frame, Joined):
            shown.pop("token", None)
            if self._show_token and self._entry.seating is not None:
                shown["token"] = self._entry.seating.token
        return shown

    def _print(self, frame: dict[str, Any]) -> None:
        # ASCII with escapes: a script reads the same, and a terminal is never sent anything odd.
        self._out.control(json.dumps(frame, separators=(",", ":")) + "\n")

    def _note(self, text: str) -> None:
        self._notes.lines([line(text)])

    def _end(self, ending: Ending) -> None:
        seating = self._entry.seating
        if ending.why:
            self._note(ending.why)
        if seating is None:
            return
        if ending.seat_gone:
            seating.drop()
        elif not self._session.asked:
            seating.withdraw()


def renumber(numbers: int | list[int] | None, answers: list[Waiting]) -> int | list[int] | None:
    """The numbers that a script gave to the commands that were answered."""
    originals = [waiting.original for waiting in answers if waiting.original is not None]
    if isinstance(numbers, list):
        return originals or None
    return originals[0] if originals else None

"""A person at the table: what is typed goes to the server, what comes is shown."""

import asyncio
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from msgspec import Struct, structs

from scopa_protocol.codes import ErrorCode
from scopa_protocol.commands import ClientCommand, Leave, Play, Resume, SeatBot
from scopa_protocol.frames import Error, Joined, RoomFrame, Update
from scopa_protocol.views import View

from . import model
from .autoplay import next_command, stuck
from .closing import INTERRUPTED, Ending
from .console import Console
from .dial import Dial, dial, is_own
from .entry import Entry, look_first, opens, watches
from .heard import SOONEST, Busy, Got, Heard, Lost, Timing
from .intents import Choose, Go, Intent, Send, Show, Sure
from .lines import Line, line
from .model import Known
from .plays import asked
from .qr import qr
from .reading import read
from .refusals import explain
from .screens.prompt import prompt
from .session import Session

PARTING_SECONDS: Final = 3.0
"""How long a person who goes waits for the answers to what was typed last."""

Asking: TypeAlias = Literal["passcode", "name", "seat"]
PROMPTS: Final[dict[Asking, str]] = {
    "passcode": "passcode> ",
    "name": "name> ",
    "seat": "Enter to sit down, q to go> ",
}
ASKS: Final[dict[str, Asking]] = {
    ErrorCode.WRONG_PASSCODE: "passcode",
    ErrorCode.NAME_TAKEN: "name",
    ErrorCode.BAD_NAME: "name",
}


class Wishes(Struct, frozen=True, kw_only=True):
    """What the command line asks for, beyond entering the room."""

    bots: int = 0
    autoplay: bool = False
    once: bool = False
    look: bool = False
    """Whether to show a room before a seat is asked for in it."""
    charset: str = "utf-8"
    columns: int = 80
    remember: Callable[[str], None] = lambda _: None
    witness: Callable[[View], None] = lambda _: None


class Player:
    """Ties a session, the model and a console together for one run of the program."""

    def __init__(
        self,
        entry: Entry,
        console: Console,
        wishes: Wishes,
        *,
        timing: Timing | None = None,
        dialled: Dial = dial,
    ) -> None:
        self.session = Session(entry.endpoint, self.hear, timing=timing, dialled=dialled)
        self.known = Known(watching=watches(entry.command))
        self._entry = entry
        self._given_up: Entry | None = None
        self._console = console
        self._wishes = wishes
        self._asking: Asking | None = None
        self._armed: Sure | None = None
        self._seated = self._leaving = self._saw_play = False
        self._looked = not wishes.look
        self._early: list[str] = []
        self._automatic: ClientCommand | None = None
        self._parting: asyncio.Task[None] | None = None

    async def run(self) -> Ending:
        """Be at the table until it ends, and say how it ended."""
        self._open()
        self._console.start(self.typed, self.no_more)
        self._console.prompt("connecting> ", "")
        try:
            ending = await self.session.run()
        finally:
            self._console.stop()
            if self._parting is not None:
                self._parting.cancel()
        return self._farewell(ending)

    def _open(self) -> None:
        """Look at the room first, if that is wished and a new seat is asked for."""
        look = None if self._looked else look_first(self._entry)
        self.session.open(look or self._entry.command)

    def interrupted(self) -> None:
        """Ctrl-C: go at once, and keep the seat."""
        self.session.stop(Ending(why="", code=INTERRUPTED))

    def no_more(self) -> None:
        """Nothing more will be typed."""
        if self._console.fancy or not (self._wishes.autoplay or watches(self._entry.command)):
            self._part(Ending(why=""))

    def typed(self, text: str) -> None:
        """One line was typed."""
        if self._console.fancy and self.session.down and not text.strip():
            self.session.hurry()
            return
        if self._asking is not None and text.strip() not in ("quit", "q"):
            self._answered(self._asking, text.strip())
            return
        if self.known.view is None and not self._console.fancy:
            self._early.append(text)
            return
        self._act(text)

    def _act(self, text: str) -> None:
        intent = read(text, self.known)
        armed, self._armed = self._armed, None
        if isinstance(intent, Sure):
            if intent == armed:
                self._do(intent.then)
                return
            self._armed = intent
        self._do(intent)

    def _do(self, intent: Intent) -> None:
        if isinstance(intent, Send):
            self._send(intent.command)
        elif isinstance(intent, Choose):
            self.known = structs.replace(self.known, choice=intent.choice)
            if self.known.view is not None:
                self._console.show(asked(intent.choice, self.known.view).lines)
        elif isinstance(intent, Show):
            self._console.show(intent.lines)
        elif isinstance(intent, Sure):
            self._console.show([line(intent.question)])
        else:
            self._go(intent)
        self._ask()

    def _send(self, command: ClientCommand) -> None:
        if isinstance(command, Play):
            played = (command.deal, command.turn)
            self.known = structs.replace(self.known, played=played, choice=None)
        if not self.session.connected:
            self._tell("The line is down: that is sent as soon as it is back.")
        self.session.send(command)

    def _go(self, go: Go) -> None:
        if go.how == "quit":
            self._part(Ending(why=""))
        elif not self._leaving:
            self._leaving = True
            self.session.send(Leave())

    def _part(self, ending: Ending) -> None:
        """Go once everything typed has its answer, or soon."""
        if self._parting is None:
            self._parting = asyncio.create_task(self._part_soon(ending))

    async def _part_soon(self, ending: Ending) -> None:
        try:
            async with asyncio.timeout(PARTING_SECONDS):
                await (self.session.idle() if self._console.fancy else self.session.settled())
        except TimeoutError:
            pass
        self.session.stop(ending)

    def hear(self, heard: Heard) -> None:
        """Something happened on the line."""
        if isinstance(heard, Lost):
            worth_it = self._console.fancy and heard.delay > 2 * SOONEST
            enter = "; Enter tries at once" if worth_it else ""
            self._tell(f"{heard.why} Trying again {_soon(heard.delay)}{enter}.")
        elif isinstance(heard, Busy):
            self._tell(f"{explain(heard.error)} It is sent again by itself {_soon(heard.delay)}.")
        else:
            self._got(heard)
        self._ask()

    def _got(self, got: Got) -> None:
        frame = got.frame
        if isinstance(frame, Joined):
            self._enter(frame)
        elif isinstance(frame, RoomFrame):
            self._show_room(frame)
        elif isinstance(frame, Update):
            self._update(frame)
        elif isinstance(frame, Error):
            self._refused(frame, got)
        left = any(isinstance(waiting.command, Leave) for waiting in got.answers)
        if left and not isinstance(frame, Error):
            self.session.stop(Ending(why="", seat_gone=True))

    def _show_room(self, frame: RoomFrame) -> None:
        """What is played there; where that is a room's own, a person may still turn back."""
        if self._looked:
            return
        from .screens import house

        self._looked = True
        self._console.show(house.room(frame, self._wishes.columns))
        if self._console.fancy and not self._wishes.autoplay and house.own(frame.rules):
            self._asking = "seat"
        else:
            self._open()

    def _enter(self, frame: Joined) -> None:
        again, self._seated = self._seated, True
        if self._entry.seating is not None:
            self._entry.seating.joined(frame)
            self._wishes.remember(self._entry.seating.held.name)
        if self._given_up is not None and self._given_up.seating is not None:
            self._given_up.seating.drop()
            self._given_up = None
        self._welcome(frame, again)
        self.known, lines = model.enter(self.known, frame, again=again)
        self._console.show(lines)
        if not again and opens(self._entry.command):
            self._seat_bots(frame.view)
        self._after(frame.view)
        early, self._early = self._early, []
        for text in early:
            self._act(text)

    def _welcome(self, frame: Joined, again: bool) -> None:
        if again:
            self._tell("Back at the table.")
        elif isinstance(self._entry.command, Resume):
            seat = f"Back on seat {frame.seat} of room {frame.room}"
            self._tell(f"{seat} (--new takes another seat).")
        elif frame.seat is None:
            self._tell(f"You are watching room {frame.room}.")
        elif opens(self._entry.command):
            self._tell(
                f"Room {frame.room} is open. Others come in with scopa join and this invite:"
            )
            self._console.show([line(frame.invite)])
            self._console.show([*self._code(frame.invite), *self._reach(frame.invite)])
        else:
            mine = (seat for seat in frame.view.seats if seat.seat == frame.seat)
            waits = any(seat.reserved is not None for seat in mine)
            when = "; your cards come with the next deal" if waits else ""
            self._tell(f"You sit on seat {frame.seat} of room {frame.room}{when}.")

    def _code(self, invite: str) -> list[Line]:
        if not self._console.fancy or is_own(invite):
            return []
        return qr(invite, self._wishes.charset, self._wishes.columns)

    def _reach(self, invite: str) -> list[Line]:
        if not self._console.fancy or not is_own(invite):
            return []
        text = "Only this machine can use it: for others, host with --server and its address."
        return [line(text)]

    def _seat_bots(self, view: View) -> None:
        free = [seat.seat for seat in reversed(view.seats) if seat.kind == "empty"]
        if self._wishes.bots > len(free):
            bots = "1 bot" if len(free) == 1 else f"{len(free)} bots"
            self._tell(f"There is room for {bots}: more seats with --players.")
        for seat in free[: self._wishes.bots]:
            self.session.send(SeatBot(seat=seat))

    def _update(self, frame: Update) -> None:
        self.known, lines = model.update(self.known, frame)
        if self._entry.seating is not None:
            self._entry.seating.moved(frame)
        self._console.show(lines)
        if self.known.view is not None:
            self._after(self.known.view)

    def _after(self, view: View) -> None:
        """What follows by itself from a new view."""
        self._wishes.witness(view)
        self._saw_play = self._saw_play or view.phase in ("playing", "deal_over")
        if self._wishes.once and view.phase == "match_over" and self._saw_play:
            self._part(Ending(why=""))
            return
        if not self._wishes.autoplay:
            return
        command = next_command(view)
        if command is not None and command != self._automatic:
            self._automatic = command
            self.session.send(command)
        elif command is None and stuck(view):
            self._tell("--autoplay needs the room's hints: the host types set hints=options.")

    def _refused(self, error: Error, got: Got) -> None:
        if got.opening:
            self._not_let_in(error)
            return
        if error.code == ErrorCode.TOO_MANY_CONNECTIONS:
            return  # the goodbye that follows says the same
        commands = [waiting.command for waiting in got.answers]
        if any(isinstance(command, Play) for command in commands):
            self.known = structs.replace(self.known, played=None)
        if any(isinstance(command, Leave) for command in commands):
            self._leaving = False
        if self._automatic is not None:
            self._automatic = None
        self._tell(explain(error, self.known.view))

    def _not_let_in(self, error: Error) -> None:
        asks = ASKS.get(error.code)
        entry = self._entry
        if asks is not None and self._console.fancy and not isinstance(entry.command, Resume):
            self._asking = asks
            if entry.seating is not None:
                entry.seating.withdraw()
            self._tell(explain(error) if asks == "name" else self._needs_passcode())
        elif error.code == ErrorCode.BAD_TOKEN and self._leaving:
            self.session.stop(Ending(why="", seat_gone=True))
        elif error.code == ErrorCode.BAD_TOKEN and not self._seated:
            self._try_anew(error)
        else:
            if entry.seating is not None:
                entry.seating.withdraw()
            hint = " --name says another." if asks == "name" else ""
            unknown = error.code == ErrorCode.BAD_TOKEN
            why = f"{explain(error)}{hint}"
            self.session.stop(Ending(why=why, seat_unknown=unknown, code=1))

    def _needs_passcode(self) -> str:
        if getattr(self._entry.command, "passcode", None):
            return "That isn't the room's passcode: type it again, or ask the host for it."
        return "The room needs its passcode."

    def _try_anew(self, error: Error) -> None:
        entry = self._entry.anew()
        if entry is None:
            self.session.stop(Ending(why=explain(error), code=1))
            return
        self._tell("The server doesn't know your old seat any more: asking for a new one.")
        self._given_up, self._entry = self._entry, entry
        self.session.open(entry.command)

    def _answered(self, asking: Asking, text: str) -> None:
        self._asking = None
        if asking == "passcode":
            self._entry = self._entry.with_passcode(text)
        elif asking == "name":
            self._entry = self._entry.with_name(text)
        self._open()
        self._ask()

    def _ask(self) -> None:
        if self._asking is not None:
            self._console.prompt(PROMPTS[self._asking], "", hidden=self._asking == "passcode")
        elif self.known.view is None:
            self._console.prompt("connecting> ", "")
        elif self.known.choice is not None:
            self._console.prompt("which> ", "")
        else:
            short, ask = prompt(self.known.view)
            self._console.prompt(short, "" if self._wishes.autoplay else ask)

    def _tell(self, text: str) -> None:
        self._console.show([line(text)])

    def _farewell(self, ending: Ending) -> Ending:
        seating = self._entry.seating
        if self._leaving and (ending.seat_gone or ending.left):
            ending = structs.replace(ending, why="You gave your seat up.", seat_gone=True, code=0)
        if ending.why:
            self._tell(ending.why)
        if seating is None:
            return ending
        if ending.seat_gone:
            seating.drop()
        elif seating.confirmed and not ending.seat_unknown:
            self._tell(f"Your seat is kept. Come back with: {seating.comes_back_with()}")
        elif not self.session.asked:
            seating.withdraw()
        return ending


def _soon(seconds: float) -> str:
    return "in a moment" if seconds < 1 else f"in {round(seconds)} s"

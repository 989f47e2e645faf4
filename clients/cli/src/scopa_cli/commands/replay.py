"""`scopa replay`: step through recorded deals; without a terminal all steps are printed."""

import asyncio
import sys
from argparse import Namespace
from pathlib import Path

from scopa_cli.closing import INTERRUPTED
from scopa_cli.console import Console
from scopa_cli.lines import line
from scopa_cli.output import error_writer
from scopa_cli.records import read_data, read_file
from scopa_cli.replaying import Step, steps
from scopa_cli.screens.record import step
from scopa_cli.signals import on_interrupt
from scopa_cli.stepping import HELP, Place, move
from scopa_protocol.history import HistoryDeal

from .screen import USAGE, open_console


def replay(options: Namespace) -> int:
    """Show a file's deals."""
    try:
        deals = chosen(options)
    except (OSError, ValueError) as fault:
        error_writer().lines([line(f"{options.file} can't be read: {reason(fault)}.")])
        return USAGE
    if not deals:
        error_writer().lines([line(f"There is no such deal in {options.file}.")])
        return 1
    console, _ = open_console(options)
    stepper = Stepper(console, deals)
    return asyncio.run(stepper.run()) if console.fancy else stepper.all()


def chosen(options: Namespace) -> list[HistoryDeal]:
    """The file's deals, or the one that was asked for. Raises OSError or ValueError."""
    stdin = options.file == "-"
    deals = read_data(sys.stdin.buffer.read()) if stdin else read_file(Path(options.file))
    return [deal for deal in deals if options.deal in (None, deal.deal)]


def reason(fault: Exception) -> str:
    """Why a file can't be read."""
    return (fault.strerror if isinstance(fault, OSError) else None) or str(fault).rstrip(".")


class Stepper:
    """A person's way through the deals."""

    def __init__(self, console: Console, deals: list[HistoryDeal]) -> None:
        self._console = console
        self._deals = deals
        self._turns = [len(deal.plays) for deal in deals]
        self._place = Place()
        self._steps: dict[int, list[Step]] = {}
        self._done: asyncio.Future[int] | None = None

    def all(self) -> int:
        """Show every step of every deal."""
        for deal, turns in enumerate(self._turns):
            for turn in range(turns + 1):
                self._show(Place(deal, turn))
        return 0

    async def run(self) -> int:
        """Step as it is typed, to the end."""
        self._done = asyncio.get_running_loop().create_future()
        on_interrupt(lambda: self._finish(INTERRUPTED))
        self._console.start(self.typed, self._finish)
        try:
            self._console.show([line(HELP)])
            self._show(self._place)
            return await self._done
        finally:
            self._console.stop()

    def typed(self, text: str) -> None:
        """One line was typed."""
        place = move(text, self._place, self._turns)
        if place is None:
            self._finish()
        elif isinstance(place, str):
            self._console.show([line(place)])
        else:
            self._show(place)

    def _finish(self, code: int = 0) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_result(code)

    def _show(self, place: Place) -> None:
        self._place = place
        if place.deal not in self._steps:
            self._steps = {place.deal: steps(self._deals[place.deal], [])}
        last = self._turns[place.deal]
        self._console.show(step(self._steps[place.deal][place.turn], place.turn, last))
        number = self._deals[place.deal].deal
        self._console.prompt(f"deal {number}, turn {place.turn} of {last}> ", "")

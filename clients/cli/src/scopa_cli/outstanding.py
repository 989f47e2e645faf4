"""Commands that wait for their answer: numbered, sent few at a time, kept for the next line."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct, structs

from scopa_protocol.commands import ClientCommand

IN_FLIGHT: Final = 8
"""Commands of a connection that may wait for an answer at one moment."""


class Waiting(Struct, kw_only=True):
    """A command, the number its author gave it, and how often it was sent."""

    command: ClientCommand
    original: int | None
    sent: bool = False
    tries: int = 0
    held: bool = False


class Outstanding:
    """The commands of one person, in the order they were given."""

    def __init__(self) -> None:
        self._last = 0
        self._waiting: dict[int, Waiting] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def number(self) -> int:
        """A number that no other command has."""
        self._last += 1
        return self._last

    def add(self, command: ClientCommand) -> ClientCommand:
        """Take a command in, and return it with its number."""
        number = self.number()
        numbered = structs.replace(command, id=number)
        self._waiting[number] = Waiting(command=numbered, original=command.id)
        return numbered

    def due(self) -> list[ClientCommand]:
        """The commands to send now; they count as sent."""
        free = IN_FLIGHT - sum(waiting.sent for waiting in self._waiting.values())
        chosen = [w for w in self._waiting.values() if not w.sent and not w.held][: max(free, 0)]
        for waiting in chosen:
            waiting.sent = True
            waiting.tries += 1
        return [waiting.command for waiting in chosen]

    def in_flight(self) -> bool:
        """Whether a command was sent that has no answer yet."""
        return any(waiting.sent for waiting in self._waiting.values())

    def settle(self, numbers: Iterable[int]) -> list[Waiting]:
        """Take out the commands that were answered; numbers of nobody are passed over."""
        return [self._waiting.pop(number) for number in numbers if number in self._waiting]

    def put_off(self, waiting: Waiting) -> None:
        """Keep a command whose answer was to try again later, until `release`."""
        waiting.sent = False
        waiting.held = True
        self._waiting[waiting.command.id or self.number()] = waiting

    def release(self, waiting: Waiting) -> None:
        """The time of a command that was put off has come."""
        waiting.held = False

    def line_lost(self) -> None:
        """Nothing that was sent can be answered any more: all of it is to be sent again."""
        for waiting in self._waiting.values():
            waiting.sent = False
        self._waiting = dict(sorted(self._waiting.items()))

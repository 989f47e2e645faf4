"""How a room is entered: where it is, with which command, for which seat."""

from msgspec import Struct, structs

from scopa_protocol.commands import Create, Join, Look, Resume, Watch

from .seating import Seating
from .session import Opening


class Entry(Struct, frozen=True, kw_only=True):
    """`seating` is null when watching; `seat`: the seat asked for when joining."""

    endpoint: str
    command: Opening
    seating: Seating | None
    seat: int | None = None

    def with_passcode(self, passcode: str) -> "Entry":
        """The same with a passcode. Raises OSError if the seat can't be kept."""
        if isinstance(self.command, Resume):
            return self
        if self.seating is not None:
            self.seating.ask()
        return structs.replace(self, command=structs.replace(self.command, passcode=passcode))

    def with_name(self, name: str) -> "Entry":
        """The same under another name. Raises OSError if that can't be kept."""
        if isinstance(self.command, Resume):
            return self
        if self.seating is not None:
            self.seating.rename(name)
        return structs.replace(self, command=structs.replace(self.command, name=name))

    def anew(self) -> "Entry | None":
        """A new seat in the room, where the server no longer knows the one held."""
        if self.seating is None or not isinstance(self.command, Resume):
            return None
        seating = self.seating.another()
        seating.ask()
        command = join_command(seating, self.seat, None)
        return structs.replace(self, command=command, seating=seating)


def join_command(seating: Seating, seat: int | None, passcode: str | None) -> Join:
    """The command that takes a seat anew."""
    return Join(
        room=seating.held.room or "",
        name=seating.held.name,
        seat=seat,
        passcode=passcode,
        token=seating.token,
    )


def look_first(entry: Entry) -> Look | None:
    """The look at a room that comes before a new seat in it."""
    command = entry.command
    if not isinstance(command, Join):
        return None
    return Look(room=command.room, passcode=command.passcode)


def opens(command: Opening) -> bool:
    """Whether a command opens a room."""
    return isinstance(command, Create)


def watches(command: Opening) -> bool:
    """Whether a command only watches."""
    return isinstance(command, Watch)

"""What a typed line comes to."""

from typing import Literal, TypeAlias

from msgspec import Struct

from scopa_protocol.commands import ClientCommand

from .lines import Line, line
from .model import Choice


class Send(Struct, frozen=True):
    """A command for the server."""

    command: ClientCommand


class Choose(Struct, frozen=True):
    """A card whose capture is still to be chosen."""

    choice: Choice


class Show(Struct, frozen=True):
    """Lines for the person alone."""

    lines: list[Line]


class Sure(Struct, frozen=True):
    """Something that can't be undone: done when it is typed once more."""

    question: str
    then: "Send | Go"


class Go(Struct, frozen=True):
    """Away from the table; only `leave` gives the seat up."""

    how: Literal["quit", "leave"]


Intent: TypeAlias = Send | Choose | Show | Sure | Go


def tell(text: str) -> Show:
    """One sentence for the person alone."""
    return Show([line(text)])

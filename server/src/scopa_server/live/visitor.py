"""A connection as a room knows it: where to send, and who it is."""

from typing import TYPE_CHECKING

from scopa_protocol.codes import ErrorCode

from .outbox import Outbox

if TYPE_CHECKING:
    from .room import LiveRoom


class Visitor:
    """One connection. In a room it holds a seat by the hash of its token, or watches by name."""

    def __init__(
        self,
        invite_base: str = "",
        address: str = "",
        *,
        local: bool = False,
        counted: str | None = None,
    ) -> None:
        self.outbox = Outbox()
        self.invite_base = invite_base
        self.address = address
        """Who it is, as limits count."""
        self.local = local
        """It comes from the server's own machine."""
        self.counted = counted
        """By what its connection is counted beside others of an address; None: not at all."""
        self.room: LiveRoom | None = None
        self.token: str | None = None
        self.name = ""
        self.seat: int | None = None
        self.number = 0
        """Its place among all of the room's connections: who comes later has a higher one."""
        self.asked = 0
        """Commands that wait in the room's inbox, or for what they ask to be read."""
        self.refused: ErrorCode | None = None
        """What it was last refused with, in the room or when it asked to be let in."""
        self.gone = False
        """The connection has ended; a room must not let it in any more."""

    @property
    def watches(self) -> bool:
        """Whether it watches."""
        return self.token is None

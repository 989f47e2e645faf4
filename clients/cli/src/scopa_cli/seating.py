"""The seat of this run: kept before it is asked for, known when the server answered."""

import os
from contextlib import suppress

from msgspec import structs

from scopa_protocol.frames import Joined, Update
from scopa_protocol.views import View

from .screens.people import by_holder
from .tokens import HeldSeat, SeatStore, comes_back_with, new_token


class Seating:
    """Keeps a seat's file in step with what the server says."""

    def __init__(self, store: SeatStore, held: HeldSeat) -> None:
        self._store = store
        self.held = held

    @property
    def token(self) -> str:
        """The seat's secret."""
        return self.held.token

    @property
    def confirmed(self) -> bool:
        """Whether the server has given the seat."""
        return self.held.seat is not None

    def ask(self) -> None:
        """Keep the token before it is sent. Raises OSError if that can't be done."""
        if not self.confirmed:
            self.held = self._store.keep(structs.replace(self.held, process=os.getpid()))

    def rename(self, name: str) -> None:
        """Ask under another name."""
        self.held = structs.replace(self.held, name=name)
        self.ask()

    def joined(self, frame: Joined) -> None:
        """The server gave the seat, or gave it back."""
        if frame.seat is None:
            return
        self._keep(room=frame.room, seat=frame.seat, invite=frame.invite, view=frame)

    def moved(self, frame: Update) -> None:
        """The seat may be another one now, and its person's name is the server's."""
        you = frame.view.you
        if you is None or not self.confirmed:
            return
        name = _name(frame.view, you) or self.held.name
        if (you, name) != (self.held.seat, self.held.name):
            self._keep(room=frame.view.room, seat=you, invite=self.held.invite, view=frame)

    def _keep(self, *, room: str, seat: int, invite: str | None, view: Joined | Update) -> None:
        self.held = structs.replace(
            self.held,
            room=room,
            seat=seat,
            invite=invite,
            name=_name(view.view, seat) or self.held.name,
            process=None,
        )
        # The token was kept before it was sent: a full disk now is no reason to leave the table.
        with suppress(OSError):
            self._store.keep(self.held)

    def another(self) -> "Seating":
        """A seat still to be asked for in the same room, under the same name."""
        held = structs.replace(self.held, seat=None, invite=None, token=new_token())
        return Seating(self._store, held)

    def drop(self) -> None:
        """The seat is nobody's, or somebody else's."""
        self._store.drop(self.token)

    def withdraw(self) -> None:
        """The seat was never given: nothing is to be kept."""
        if not self.confirmed:
            self.drop()

    def comes_back_with(self) -> str:
        """What to type to sit here again."""
        return comes_back_with(self.held, self._store.all())


def _name(view: View, seat: int) -> str | None:
    """The name of a seat's person, also while a bot still plays it."""
    return by_holder(view).seats[seat].name if seat < len(view.seats) else None

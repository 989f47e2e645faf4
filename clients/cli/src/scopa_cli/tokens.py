"""Seat tokens kept on this machine: one private file per server, room and seat."""

import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs

from scopa_protocol.invite import read_code

from .private import locked, write_private

OPENING: Final = "opening"
"""Where a seat's file stands until its room has a code."""


class HeldSeat(Struct, frozen=True, kw_only=True):
    """A seat that this machine holds; `room` and `seat` are null until the server answered."""

    server: str
    room: str | None
    seat: int | None
    name: str
    token: str
    invite: str | None = None
    process: int | None = None
    saved: float = 0.0

    def __repr__(self) -> str:
        """Without the token."""
        return f"<seat {self.seat} of {self.room} at {self.server}>"


def new_token() -> str:
    """A seat token that nobody can guess."""
    return secrets.token_urlsafe(24)


def comes_back_with(seat: HeldSeat, held: Iterable[HeldSeat]) -> str:
    """What to type to sit there again, where these seats are held."""
    there = [one for one in held if (one.server, one.room) == (seat.server, seat.room)]
    several = seat.seat is not None and sum(one.seat is not None for one in there) > 1
    return f"scopa join {seat.invite or seat.room}{f' --seat {seat.seat}' if several else ''}"


class SeatStore:
    """The folder of held seats. Methods raise OSError where the folder can't be used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, seat: HeldSeat) -> HeldSeat:
        """Store a seat, replacing what was stored under its token."""
        seat = structs.replace(seat, saved=time.time())
        path = self._path(seat)
        self._private(path.parent)
        # Two that keep one seat at once must not each remove the other's file.
        with locked(self.folder):
            write_private(path, msgspec.json.encode(seat))
            for other in self._files_of(seat.token):
                if other != path:
                    other.unlink(missing_ok=True)
        return seat

    def drop(self, token: str) -> None:
        """Forget a seat for good."""
        for path in self._files_of(token):
            path.unlink(missing_ok=True)

    def all(self) -> list[HeldSeat]:
        """Every seat held, by room and seat; files that can't be read are passed over."""
        seats = (_read(path) for path in sorted(self.folder.glob("*/*.json")))
        held = [seat for seat in seats if seat is not None]
        return sorted(held, key=lambda seat: (seat.server, seat.room or "", seat.seat or 0))

    def of_room(self, code: str, server: str | None = None) -> list[HeldSeat]:
        """Seats of a room that the server has confirmed."""
        return [
            seat
            for seat in self.all()
            if seat.room == code and seat.seat is not None and server in (None, seat.server)
        ]

    def unanswered(self, server: str, room: str | None) -> HeldSeat | None:
        """A seat that was asked for by a process which ended before it had an answer."""
        for seat in self.all():
            same = seat.server == server and seat.room == room and seat.seat is None
            if same and not _runs(seat.process):
                return seat
        return None

    def _path(self, seat: HeldSeat) -> Path:
        # A room's code comes from a server: only what reads as a code may name a file.
        room = (read_code(seat.room) if seat.room else None) or OPENING
        return self.folder / folder_name(seat.server) / f"{room}-{_tag(seat.token)}.json"

    def _files_of(self, token: str) -> Iterator[Path]:
        yield from self.folder.glob(f"*/*-{_tag(token)}.json")

    def _private(self, folder: Path) -> None:
        for path in (self.folder, folder):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.chmod(0o700)


def _tag(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()[:10]


def folder_name(server: str) -> str:
    """A folder of its own for a server, whatever its address holds."""
    readable = re.sub(r"[^A-Za-z0-9.-]+", "_", server)[:60]
    return f"{readable}-{hashlib.sha256(server.encode()).hexdigest()[:6]}"


def _read(path: Path) -> HeldSeat | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=HeldSeat)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _runs(process: int | None) -> bool:
    """Whether a process is alive, so that its unanswered seat is its own business."""
    if process is None or os.name == "nt":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

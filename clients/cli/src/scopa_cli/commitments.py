"""The commitments that this client saw, one private file per server and room."""

from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import msgspec

from scopa_protocol.invite import read_code
from scopa_protocol.views import View

from .private import locked, write_private
from .tokens import folder_name

Seen: TypeAlias = dict[str, list[str]]
"""By match and deal, as in `1/3`: every commitment that was shown for it, the first one first."""


def key(match: int, deal: int) -> str:
    """Where a deal's commitments stand."""
    return f"{match}/{deal}"


class CommitmentStore:
    """The folder of commitments seen."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def of_room(self, endpoint: str, room: str) -> Seen:
        """What was seen in a room; nothing where the file can't be read."""
        path = self._path(endpoint, room)
        return _read(path) if path is not None else {}

    def rooms(self) -> list[tuple[str, Seen]]:
        """Every room of which something was seen, with its code."""
        return [(path.stem, _read(path)) for path in sorted(self.folder.glob("*/*.json"))]

    def add(self, endpoint: str, room: str, where: str, commitment: str) -> None:
        """Keep a commitment. Raises OSError where the folder can't be used."""
        path = self._path(endpoint, room)
        if path is None:
            return
        for folder in (self.folder, path.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Another seat of this machine may be writing, too.
        with locked(path.parent):
            seen = _read(path)
            if commitment not in seen.get(where, []):
                seen.setdefault(where, []).append(commitment)
                write_private(path, msgspec.json.encode(seen))

    def _path(self, endpoint: str, room: str) -> Path | None:
        # A room's code comes from a server: only what reads as a code may name a file.
        code = read_code(room)
        return self.folder / folder_name(endpoint) / f"{code}.json" if code else None


def _read(path: Path) -> Seen:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Seen)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}


class Witness:
    """Notes the commitments of one server's views, each once."""

    def __init__(self, store: CommitmentStore, endpoint: str) -> None:
        self._store = store
        self._endpoint = endpoint
        self._last: tuple[str, str] | None = None

    def see(self, view: View) -> None:
        """Keep what a view commits to; a full disk is no reason to leave the table."""
        where = subject(view)
        if where is None or not view.commitment or self._last == (where, view.commitment):
            return
        self._last = (where, view.commitment)
        with suppress(OSError):
            self._store.add(self._endpoint, view.room, where, view.commitment)


def subject(view: View) -> str | None:
    """Which deal a view's commitment is of: the running one, or once a deal is over the next."""
    if view.phase == "playing":
        return key(view.match, view.deal)
    return key(view.match, view.deal + 1) if view.phase == "deal_over" else None

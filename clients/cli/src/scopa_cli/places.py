"""Where this client keeps what must outlive it, and the names people go by."""

import getpass
from collections.abc import Mapping
from pathlib import Path

from scopa_protocol.text import NAME_LENGTH, clean_name

from .commitments import CommitmentStore
from .private import write_private
from .tokens import SeatStore

DEFAULT_SERVER = "ws://127.0.0.1:8765"


def state_folder() -> Path:
    """The user's state folder for this client."""
    from platformdirs import user_state_path

    return user_state_path("scopa", appauthor=False)


def seat_store() -> SeatStore:
    """The seats that this machine holds."""
    return SeatStore(state_folder() / "seats")


def commitment_store() -> CommitmentStore:
    """The commitments that this machine saw."""
    return CommitmentStore(state_folder() / "commitments")


def server_address(option: str | None, environment: Mapping[str, str]) -> str:
    """The server that was asked for, in the order option, SCOPA_SERVER, default."""
    return option or environment.get("SCOPA_SERVER") or DEFAULT_SERVER


def player_name(option: str | None, environment: Mapping[str, str], folder: Path) -> str:
    """The name to sit down with: option, SCOPA_NAME, the last one used, the login name."""
    asked = option or environment.get("SCOPA_NAME")
    if asked:
        return asked
    return _last_name(folder) or _login_name()


def _last_name(folder: Path) -> str | None:
    try:
        return clean_name((folder / "name").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _login_name() -> str:
    try:
        return clean_name(getpass.getuser()[:NAME_LENGTH]) or "guest"
    except (OSError, KeyError, ImportError):
        return "guest"


def remember_name(name: str, folder: Path) -> None:
    """Keep the name for the next time; a folder that can't be written is no matter."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(folder / "name", name.encode())
    except OSError:
        return

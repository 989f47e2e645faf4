"""Opening a room."""

from scopa_protocol.commands import Create
from scopa_protocol.settings import Settings
from scopa_server.room import events as e
from scopa_server.room.tokens import token_hash

from .people import admitted
from .rules import checked, settled


def open_room(command: Create, token: str, passcode: str | None) -> e.Events:
    """The first commit of a room: its host at seat 0. `passcode` is a hash.

    Raises Refused: bad_name, bad_rules, bad_settings.
    """
    name = admitted(command.name, [])
    variant, overrides, _ = checked(command.rules)
    settings = settled(Settings(), command.settings or {})
    return (
        e.Opened(variant=variant, overrides=overrides, settings=settings, passcode=passcode),
        e.SeatTaken(seat=0, name=name, kind="person", token=token_hash(token)),
        e.HostChanged(seat=0),
    )

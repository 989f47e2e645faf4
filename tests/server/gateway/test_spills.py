"""Whatever fails, and wherever: the log tells of it, and no secret with it."""

import asyncio
import io
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec
import pytest

from scopa_protocol import codec
from scopa_server.gateway import connection
from scopa_server.live import door, history, keeping, ledger, passcodes, rooms, showing, table
from scopa_server.logs import logging_to
from scopa_server.room.tokens import token_hash
from support.eavesdrop import CARD
from support.front import Front, front, until
from support.memory_journal import MemoryJournal
from support.player import Player
from support.raw import Raw, raw
from support.seated import parted
from support.seated import table as seated
from support.tables import token

PASSCODE: Final = "apriti-sesamo"
WORD: Final = "spilt-in-words"

PLACES: Final[dict[str, tuple[Any, str]]] = {
    "decoding": (codec.Codec, "decode_command"),
    "encoding": (codec.JSON, "encode"),
    "answering": (connection.Connection, "_follow"),
    "letting in": (rooms.Rooms, "_admitted"),
    "passcodes": (passcodes, "_scrypt"),
    "headers": (keeping, "read_header"),
    "looking up": (MemoryJournal, "header"),
    "appending": (MemoryJournal, "append"),
    "the door": (door, "admit_watcher"),
    "deciding": (table, "decide"),
    "applying": (ledger, "advance_telling"),
    "showing what lasts": (showing, "lasting"),
    "showing lists": (showing, "listed"),
    "showing what passes": (showing, "table"),
    "showing a seat": (showing, "own"),
    "history": (history, "read_events"),
    "writing events": (ledger, "write_events"),
}
"""Where something fails: every layer from the line to the store."""


def spilling(*args: Any, **more: Any) -> Any:
    """Fail with all that was at hand in the exception's words and notes."""
    fault = ValueError(f"{WORD} {PASSCODE} {token(0)} 7D {args!r} {more!r}")
    fault.add_note(f"{WORD} {PASSCODE}")
    raise fault


@asynccontextmanager
async def listened_to(written: io.StringIO) -> AsyncGenerator[tuple[Front, list[Player]]]:
    """A table in play at a server that logs all it can, with asyncio at its most talkative."""
    loop = asyncio.get_running_loop()
    loop.set_debug(True)
    loop.slow_callback_duration = 0
    with logging_to(written, "debug"):
        async with front() as served:
            players = await seated(served)
            yield served, players
            await parted(players)


async def everything(line: Raw, players: list[Player]) -> None:
    """Send what reaches every part of the server, and wait for no answer."""
    view = players[0].view
    assert view is not None
    named = {"room": view.room, "passcode": PASSCODE}
    await line.send({"type": "look", **named})
    await line.send({"type": "watch", "name": "Eva", **named})
    await line.send({"type": "resume", "room": view.room, "token": token(0)})
    mover = next(p for p in players if p.view is not None and p.view.options)
    for command in (
        {"type": "configure", "passcode": PASSCODE, "settings": {"watchers": "table"}},
        {"type": "say", "text": "ciao", "key": WORD},
        {"type": "history"},
    ):
        await sent(players[0], command)
    play = mover.choice(random.Random(1))
    await sent(mover, msgspec.to_builtins(play))


async def sent(player: Player, command: Any) -> None:
    """Send a command in this player's encoding, whatever becomes of the server's."""
    encode = msgspec.msgpack.encode if player.codec.binary else msgspec.json.encode
    await player.socket.send(encode(command), text=not player.codec.binary)


@pytest.mark.parametrize("place", [*PLACES])
async def test_what_fails_spills_nothing(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    async with listened_to(written) as (served, players):
        async with raw(served.url) as line:
            monkeypatch.setattr(*PLACES[place], spilling)
            await everything(line, players)
            await until(lambda: '"exception"' in written.getvalue())
            monkeypatch.undo()
        secrets = [WORD, PASSCODE, *(p.token or "" for p in players)]
    text = written.getvalue()
    entries = [msgspec.json.decode(row) for row in text.splitlines()]
    faults = [link for entry in entries for link in entry.get("exception", ())]
    assert "ValueError" in [fault["exc_type"] for fault in faults]
    assert "spilling" in [frame["name"] for fault in faults for frame in fault["frames"]]
    for secret in [*secrets, *map(token_hash, secrets)]:
        assert secret not in text
    assert not CARD.search(text)

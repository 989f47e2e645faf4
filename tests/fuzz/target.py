"""One frame through everything that is pure: the decoder, then the room, from every role.

Every phase of a match is tried. Whatever comes is refused in the protocol's words, and a refusal
leaves the room as it was; any other exception is a fault.
"""

import random
from collections.abc import Iterator
from copy import copy
from functools import cache
from typing import Final, get_args

import msgspec

from scopa_cli.sense import readable
from scopa_protocol import commands as c
from scopa_protocol.codec import CODECS, BadMessage, Format
from scopa_server.room.decide import open_room
from scopa_server.room.refused import Refused
from support.hostile_frames import FRAMES, cut_short, spoilt
from support.tables import Table, token
from support.wire import COMMANDS
from support.wire import FRAMES as SERVER_FRAMES

PHASES: Final = ("lobby", "playing", "first_card", "paused", "deal_over", "proposed", "match_over")
ROLES: Final[tuple[int | None, ...]] = (None, 0, 1)
DOOR: Final = (c.Ping, c.Look, c.Create, c.Resume, c.Watch, c.History)
"""Commands that a room doesn't decide."""


@cache
def _made(phase: str) -> Table:
    chance = random.Random(1)
    variant = "chkobba" if phase == "first_card" else "cirulla"
    table = Table(seed=3, variant=variant, players=2, target=1 if phase == "match_over" else 90)
    if phase == "lobby":
        return table
    table.start()
    if phase == "paused":
        table.do(1, c.Pause())
    if phase in {"deal_over", "proposed", "match_over"}:
        table.set(next_deal_seconds=0).deal_out(chance)
    if phase == "proposed":
        table.do(0, c.Propose(rules={"napola": "run"}))
    while phase == "match_over" and table.room.phase != "match_over":
        table.step(chance)
    return table


def check(data: bytes, fmt: Format) -> None:
    """Raise whatever a server or a client should not."""
    if fmt == "json":
        readable(data, "ws://127.0.0.1:8765/ws")
    command = _decoded(data, fmt)
    if command is None:
        return
    if isinstance(command, c.Create):
        _refusable(command)
    if not isinstance(command, DOOR):
        for phase in PHASES:
            for role in ROLES:
                _given(copy(_made(phase)), role, command)


def _decoded(data: bytes, fmt: Format) -> c.ClientCommand | None:
    reason = ""
    try:
        return CODECS[fmt].decode_command(data)
    except BadMessage as bad:
        reason = bad.reason
    # It goes back to the frame's author; what stood in the frame doesn't.
    assert len(reason) < 200
    return None


def _refusable(command: c.Create) -> None:
    try:
        open_room(command, token(0), None)
    except Refused as refused:
        msgspec.json.encode([refused.message, refused.details])


def _given(table: Table, role: int | None, command: c.Command) -> None:
    if isinstance(command, c.Join) and command.token is None:
        command = msgspec.structs.replace(command, token="t" * 22)
    before = table.room
    try:
        table.do(role, command)
    except Refused as refused:
        assert table.room is before
        msgspec.json.encode([refused.message, refused.details])


def seeds(fmt: Format) -> Iterator[bytes]:
    """Frames to begin with: every command and every frame of a server, sound, spoilt and cut."""
    encode = msgspec.msgpack.encode if fmt == "msgpack" else msgspec.json.encode
    yield from map(encode, COMMANDS)
    yield from map(encode, SERVER_FRAMES)
    yield from map(encode, spoilt())
    yield from FRAMES[fmt].values()
    yield from cut_short(fmt)


FORMATS: Final = get_args(Format)

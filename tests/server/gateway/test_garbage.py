"""Whatever comes, from whomever and whenever: a named answer, and the room as it was."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import pytest
from structlog.testing import capture_logs
from websockets.exceptions import ConnectionClosed

from scopa_protocol import commands as c
from scopa_protocol.codec import Format
from scopa_protocol.codes import CloseCode, ErrorCode
from scopa_server.gateway import server
from support import raw as wire
from support.front import Front, front
from support.hostile_frames import BROKEN, FRAMES, cut_short, spoilt
from support.player import Player
from support.raw import Raw, raw
from support.seated import parted, shown
from support.tables import token
from support.wire import COMMANDS

PHASES: Final = ("lobby", "playing", "deal_over", "match_over")
ROLES: Final = ("outsider", "watcher", "seat", "host")
PROTOCOLS: Final[dict[Format, str]] = {"json": wire.JSON, "msgpack": wire.MSGPACK}
CODES: Final = {code.value for code in ErrorCode} - {"internal_error"}
# 1002 and 1007 are WebSocket's own, for what isn't its protocol or isn't UTF-8.
CLOSES: Final = {1002, 1007, *map(int, CloseCode)} - {CloseCode.INTERNAL}
AT_ONCE: Final = 7
"""Frames on one connection, fewer than what ends it for a row of bad ones, or wait at once."""


@dataclass
class Stage:
    """A room in some phase, with two people."""

    served: Front
    phase: str
    code: str = ""

    async def set(self) -> None:
        """Make a room and bring it into the phase."""
        async with Player(self.served.url) as anna, Player(self.served.url) as bruno:
            opened = await anna.do(
                c.Create(
                    name="Anna",
                    rules={"variant": "scopa", "players": 2, "target": 50},
                    settings={"watchers": "table", "talk": "always", "next_deal_seconds": 0},
                    token=token(0),
                )
            )
            self.code = getattr(opened, "room", "")
            await bruno.join(self.code, "Bruno", token=token(1))
            if self.phase != "lobby":
                await anna.do(c.Start())
            if self.phase == "deal_over":
                await self._deal_out(anna, bruno)
            if self.phase == "match_over":
                await anna.do(c.EndMatch())
            await bruno.do(c.Ping())
            assert shown(bruno).phase == self.phase
            await parted([anna, bruno])

    async def _deal_out(self, *players: Player) -> None:
        while any(shown(player).phase == "playing" for player in players):
            for player in players:
                await player.do(c.Ping())
                view = shown(player)
                if view.options is not None:
                    card, takes = next(iter(view.options.items()))
                    take = takes[0] if takes else []
                    await player.do(c.Play(deal=view.deal, turn=view.turn, card=card, take=take))

    @asynccontextmanager
    async def line(self, role: str, fmt: Format) -> AsyncGenerator[Raw]:
        """A connection of somebody of that role."""
        async with raw(self.served.url, [PROTOCOLS[fmt]]) as line:
            await line.until("hello")
            enter: dict[str, dict[str, Any]] = {
                "watcher": {"type": "watch", "name": f"Ugo{fmt}"},
                "seat": {"type": "resume", "token": token(1)},
                "host": {"type": "resume", "token": token(0)},
            }
            if role in enter:
                answer = await line.ask({**enter[role], "room": self.code, "id": 1})
                assert answer["type"] == "joined", answer
            try:
                yield line
            finally:
                line.socket.transport.abort()

    @property
    def log(self) -> list[bytes]:
        """What the store holds of every room."""
        logs = self.served.house.journal.logs
        return [commit.payload for code in sorted(logs) for commit in logs[code]]


@asynccontextmanager
async def staged(phase: str) -> AsyncGenerator[Stage]:
    """A stage; whatever is done on it, the server notices no fault of its own."""
    with pytest.MonkeyPatch.context() as patch, capture_logs() as logged:
        # A client that closes badly is waited for; not here.
        patch.setattr(server, "CLOSE_SECONDS", 0.05)
        async with front() as served:
            stage = Stage(served, phase)
            await stage.set()
            yield stage
    assert [entry for entry in logged if entry["log_level"] in ("error", "critical")] == []


async def answers(line: Raw, expected: int) -> list[dict[str, Any]]:
    """Every frame up to the last of so many answers, or to the close; each is the protocol's.

    Each frame that was sent is answered exactly once.
    """
    found: list[dict[str, Any]] = []
    waiting = expected + 1
    try:
        await line.send({"type": "ping", "id": 2**40})
        while waiting > 0:
            frame = await line.frame()
            found.append(frame)
            waiting -= _answered(frame)
    except ConnectionClosed:
        assert line.socket.close_code in CLOSES
    assert waiting >= 0
    errors = {frame["code"] for frame in found if frame["type"] == "error"}
    assert errors <= CODES
    return found


def _answered(frame: dict[str, Any]) -> int:
    re = frame.get("re")
    return len(re) if isinstance(re, list) else int(re is not None or frame["type"] == "error")


def in_bits(frames: Iterable[bytes]) -> list[list[bytes]]:
    """Frames as they go on one connection each time."""
    every = list(frames)
    return [every[start : start + AT_ONCE] for start in range(0, len(every), AT_ONCE)]


@pytest.mark.parametrize("phase", PHASES)
async def test_garbage_is_named_and_changes_nothing(phase: str) -> None:
    async with staged(phase) as stage:
        for role in ROLES:
            for fmt in PROTOCOLS:
                sent = [*FRAMES[fmt].values()]
                sent += list(cut_short(fmt))[ROLES.index(role) :: len(ROLES)]
                await _throw(stage, role, fmt, sent)


async def _throw(stage: Stage, role: str, fmt: Format, sent: list[bytes]) -> None:
    for bit in in_bits(sent):
        before = stage.log
        async with stage.line(role, fmt) as line:
            for data in bit:
                await line.socket.send(data, text=fmt == "json")
            found = await answers(line, len(bit))
        # What was accepted after all was sound: somebody said something.
        taken = [
            frame for frame in found if frame["type"] in ("joined", "update") and _answered(frame)
        ]
        assert taken or stage.log == before


@pytest.mark.parametrize("fmt", [*PROTOCOLS])
@pytest.mark.parametrize("role", ROLES)
async def test_the_wrong_kind_of_frame_is_refused(role: str, fmt: Format) -> None:
    async with staged("playing") as stage:
        before = stage.log
        async with stage.line(role, fmt) as line:
            for data in (b"", b"\x00", b'{"type":"leave"}', b"$type%leave"):
                await line.socket.send(data, text=fmt != "json")
            found = await answers(line, 4)
        codes = [frame["code"] for frame in found if frame["type"] == "error"]
        assert codes == ["bad_message"] * 4
        assert stage.log == before


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
async def test_text_that_is_no_utf_8_ends_the_line(data: bytes) -> None:
    async with staged("playing") as stage:
        before = stage.log
        async with stage.line("seat", "json") as line:
            await line.socket.send(data, text=True)
            await answers(line, 1)
            assert line.socket.close_code == 1007
        assert stage.log == before


@pytest.mark.parametrize("phase", PHASES)
async def test_every_command_of_every_role_is_followed_or_refused_whole(phase: str) -> None:
    kinds: set[tuple[str, str, str]] = set()
    async with staged(phase) as stage:
        for role in ROLES:
            for number, command in enumerate(COMMANDS):
                fmt: Format = "msgpack" if number % 2 else "json"
                frame = {**msgspec.to_builtins(command), "id": 5}
                kinds.add((frame["type"], role, await _give(stage, role, fmt, frame)))
    assert {kind for kind, _, _ in kinds} == {str(one.__struct_config__.tag) for one in COMMANDS}
    assert {outcome for _, _, outcome in kinds} == {"done", "refused"}


@pytest.mark.parametrize("phase", PHASES)
async def test_a_spoilt_command_is_followed_or_refused_whole(phase: str) -> None:
    async with staged(phase) as stage:
        frames = list(spoilt())
        for number, frame in enumerate(frames[PHASES.index(phase) :: len(PHASES)]):
            role = ROLES[number % len(ROLES)]
            fmt: Format = "msgpack" if number % 3 else "json"
            await _give(stage, role, fmt, {**frame, "id": 5})


async def _give(stage: Stage, role: str, fmt: Format, frame: dict[str, Any]) -> str:
    """Send one command; what was refused left no trace, what was done stands in one commit."""
    if "room" in frame and frame["room"] == "KRTNWXYZ":
        frame["room"] = stage.code
    before = stage.log
    async with stage.line(role, fmt) as line:
        await line.send(frame)
        found = await answers(line, 1)
    error = next((one for one in found if one["type"] == "error"), None)
    after = stage.log
    if error is not None:
        assert (error.get("re"), after) == (5, before), (frame, error)
        return "refused"
    assert any(one.get("re") in (5, [5]) for one in found), frame
    if after != before:
        # Somebody else's turn now, or another phase: begin anew.
        await stage.set()
    return "done"

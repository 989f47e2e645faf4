"""Whatever is sent, it is answered in the protocol's words, and the server stands."""

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs
from websockets.exceptions import ConnectionClosed

from scopa_server.gateway import server
from support.front import front
from support.raw import JSON, MSGPACK, Raw, raw
from support.tables import token
from support.wire import COMMANDS

CREATE = {"type": "create", "id": 1, "name": "Anna", "rules": {"variant": "scopa", "players": 2}}
# 1002 and 1007 are WebSocket's own, for what isn't its protocol or isn't UTF-8.
CLOSES = {1000, 1002, 1007, 1008, 1009}

TYPES = [str(command.__struct_config__.tag) for command in COMMANDS]
FIELDS = sorted({name for command in COMMANDS for name in command.__struct_encode_fields__})
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30)
    | st.sampled_from(["1D", "7D", "scopa", "", "\x1b[2J", "\u202e", "0" * 64, token(0)])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=8), inner, max_size=5)
    ),
    max_leaves=8,
)
MAPS = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES)},
    optional=dict.fromkeys(FIELDS, VALUES),
)
SOUND = st.sampled_from(COMMANDS).map(msgspec.to_builtins)


@st.composite
def nearly(draw: st.DrawFn) -> dict[str, Any]:
    """A sound command with a field or two changed."""
    frame = dict(draw(SOUND))
    for name in draw(st.lists(st.sampled_from(sorted(frame)), max_size=2)):
        frame[name] = draw(VALUES)
    return frame


FRAMES = st.binary(max_size=60) | nearly() | MAPS | VALUES | st.text(max_size=60)


@pytest.mark.parametrize("protocol", [JSON, MSGPACK])
@pytest.mark.parametrize("seated", [False, True])
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(frames=st.lists(FRAMES, min_size=1, max_size=12))
def test_anything_may_be_sent(
    protocol: str, seated: bool, frames: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    # A client that closes badly is waited for; not here.
    with pytest.MonkeyPatch.context() as patch, capture_logs() as logged:
        patch.setattr(server, "CLOSE_SECONDS", 0.05)
        asyncio.run(exchange(protocol, seated, frames))
    assert [entry for entry in logged if entry["log_level"] in ("error", "critical")] == []
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def exchange(protocol: str, seated: bool, frames: list[Any]) -> None:
    """Send frames; every answer must be the protocol's, and others are served as before."""
    async with front() as served, raw(served.url, [protocol]) as line:
        if seated:
            await line.ask({**CREATE, "token": token(7)})
        try:
            for frame in frames:
                await send(line, frame)
            await line.send({"type": "ping", "id": 2**40})
            await answers(line)
        except ConnectionClosed:
            assert line.socket.close_code in CLOSES
        async with raw(served.url) as other:
            assert (await other.ask({**CREATE, "token": token(8)}))["type"] == "joined"


async def send(line: Raw, frame: Any) -> None:
    """Send a value, or bytes and text as they are."""
    if isinstance(frame, bytes | str):
        await line.socket.send(frame, text=not line.binary)
    else:
        await line.send(frame)


async def answers(line: Raw) -> None:
    """Read up to the last answer."""
    while True:
        frame = await line.frame()
        assert frame["type"] in {
            "hello",
            "pong",
            "room",
            "joined",
            "update",
            "history",
            "error",
            "bye",
        }
        assert frame.get("code") != "internal_error"
        if frame.get("re") == 2**40:
            return

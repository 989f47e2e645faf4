"""Frames to bytes and back, and what is made of anything else."""

from typing import Any

import msgspec
import pytest

from scopa_protocol import commands, events, frames
from scopa_protocol.codec import (
    JSON,
    MAX_FRAME,
    MSGPACK,
    SUBPROTOCOLS,
    Codec,
)
from scopa_protocol.events import RoomEvent
from scopa_protocol.frames import Hello, Pong, ServerFrame, Update
from support.wire import COMMANDS, EVENTS, FRAMES, FULL_VIEW, missing, view

GOLDEN: list[tuple[Any, bytes, bytes]] = [
    (commands.Ping(), b'{"type":"ping"}', b"\x81\xa4type\xa4ping"),
    (commands.Ping(id=1), b'{"type":"ping","id":1}', b"\x82\xa4type\xa4ping\xa2id\x01"),
    (
        commands.Play(id=300, deal=3, turn=17, card="10B", take=["7D", "3C"]),
        b'{"type":"play","id":300,"deal":3,"turn":17,"card":"10B","take":["7D","3C"]}',
        b"\x86\xa4type\xa4play\xa2id\xcd\x01\x2c\xa4deal\x03\xa4turn\x11\xa4card\xa310B"
        b"\xa4take\x92\xa27D\xa23C",
    ),
    (
        commands.Say(text="ciao è"),
        b'{"type":"say","text":"ciao \xc3\xa8"}',
        b"\x82\xa4type\xa3say\xa4text\xa7ciao \xc3\xa8",
    ),
    (
        frames.Pong(re=1, seq=57, log="9f2c"),
        b'{"type":"pong","re":1,"seq":57,"log":"9f2c"}',
        b"\x84\xa4type\xa4pong\xa2re\x01\xa3seq\x39\xa3log\xa49f2c",
    ),
    (
        frames.Error(re=6, code="stale", message="Too late"),
        b'{"type":"error","re":6,"code":"stale","message":"Too late"}',
        b"\x84\xa4type\xa5error\xa2re\x06\xa4code\xa5stale\xa7message\xa8Too late",
    ),
    (
        frames.Bye(code="restarting", message="Back soon", retry=True),
        b'{"type":"bye","code":"restarting","message":"Back soon","retry":true}',
        b"\x84\xa4type\xa3bye\xa4code\xaarestarting\xa7message\xa9Back soon\xa5retry\xc3",
    ),
    (
        events.Said(name="Ugo", seat=None, text="bravo"),
        b'{"type":"said","name":"Ugo","seat":null,"text":"bravo"}',
        b"\x84\xa4type\xa4said\xa4name\xa3Ugo\xa4seat\xc0\xa4text\xa5bravo",
    ),
]


def test_two_subprotocols_one_in_text_one_in_bytes() -> None:
    assert SUBPROTOCOLS == {"scopa.v1.json": "json", "scopa.v1.msgpack": "msgpack"}
    assert (JSON.binary, MSGPACK.binary) == (False, True)


@pytest.mark.parametrize(("what", "json", "msgpack"), GOLDEN)
def test_bytes_stay_as_they_are(what: object, json: bytes, msgpack: bytes) -> None:
    assert JSON.encode(what) == json
    assert MSGPACK.encode(what) == msgpack


def test_every_frame_and_event_has_an_example() -> None:
    assert missing(FRAMES, ServerFrame) == set()
    assert missing(EVENTS, RoomEvent) == set()


def without_nulls(value: Any) -> Any:
    """The same maps without the fields that are null."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__name__)
def test_a_frame_comes_back_as_it_was_sent(codec: Codec, frame: ServerFrame) -> None:
    assert codec.decode_frame(codec.encode(frame)) == frame


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__name__)
def test_both_formats_carry_the_same_maps(frame: ServerFrame) -> None:
    assert msgspec.json.decode(JSON.encode(frame)) == msgspec.msgpack.decode(MSGPACK.encode(frame))


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__name__)
def test_a_client_ignores_fields_of_a_later_version(codec: Codec, frame: ServerFrame) -> None:
    later = with_news(msgspec.json.decode(JSON.encode(frame)))
    assert codec.decode_frame(codec.encode(later)) == frame


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__name__)
def test_what_is_null_may_be_left_out(codec: Codec, frame: ServerFrame) -> None:
    whole = msgspec.json.decode(JSON.encode(frame))
    # A `joined` always says which seat, were it none.
    short = without_nulls(whole) | {key: whole[key] for key in ("seat",) if key in whole}
    assert codec.decode_frame(codec.encode(short)) == frame


def test_a_client_ignores_frames_of_a_later_version(codec: Codec) -> None:
    assert codec.decode_frame(codec.encode({"type": "fanfare", "seq": "loud"})) is None


def test_a_client_ignores_events_of_a_later_version(codec: Codec) -> None:
    known = events.Away(seat=1)
    raw = [
        {"type": "fanfare", "length": 3},
        msgspec.to_builtins(known),
        {"type": "away", "seat": "a seat of another kind"},
        {"nothing": "of an event"},
    ]
    frame = {"type": "update", "seq": 2, "events": raw, "view": msgspec.to_builtins(view())}
    assert codec.decode_frame(codec.encode(frame)) == Update(seq=2, events=[known], view=view())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff",
        b'{"type":5}',
        b'{"type":"pong","re":"x"}',
        b'{"type":"hello"}',
        b'{"type":"fanfare","x":' + b"[" * 99_999 + b"]" * 99_999 + b"}",
        b'{"type":"error","code":"","message":"","details":{"x":' + b"[" * 99_999,
    ],
)
def test_a_client_hears_of_anything_that_is_no_frame(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        JSON.decode_frame(data)


def test_a_full_view_is_read_whole(codec: Codec) -> None:
    update = codec.decode_frame(codec.encode(Update(seq=57, events=[], view=FULL_VIEW)))
    assert isinstance(update, Update)
    assert all(
        getattr(update.view, field) not in (None, [], {})
        for field in FULL_VIEW.__struct_fields__
        if field != "options_cut"
    )


def test_what_does_not_apply_in_a_frame_is_left_out() -> None:
    assert JSON.encode(Pong()) == b'{"type":"pong"}'


def test_joined_does_not_print_its_token() -> None:
    joined = next(frame for frame in FRAMES if isinstance(frame, frames.Joined))
    assert repr(joined) == "<joined>"


def test_the_largest_command_fits_a_frame(codec: Codec) -> None:
    assert max(len(codec.encode(command)) for command in COMMANDS) < MAX_FRAME
    assert isinstance(FRAMES[0], Hello)
    assert FRAMES[0].limits.frame_bytes == MAX_FRAME


def with_news(value: Any) -> Any:
    """A value with a field nobody knows in each map of messages within it."""
    if isinstance(value, list):
        return [with_news(one) for one in value]
    if not isinstance(value, dict):
        return value
    free = {"options", "points", "details"} | ({"rules"} if "waiting" not in value else set())
    kept = {key: one if key in free - {"rules"} else with_news(one) for key, one in value.items()}
    if "waiting" in value and "agreed" in value:
        kept["rules"] = value["rules"]
    return kept | {"news": [{"of": 1}]}

"""Frames to bytes and back, and what is made of anything else."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scopa_protocol import commands, events, frames
from scopa_protocol.codec import (
    CODECS,
    JSON,
    MAX_FRAME,
    MSGPACK,
    SUBPROTOCOLS,
    BadMessage,
    Codec,
)
from scopa_protocol.events import RoomEvent
from scopa_protocol.frames import Hello, Pong, ServerFrame, Update
from support.wire import COMMANDS, EVENTS, FRAMES, FULL_VIEW, TOKEN, missing, view

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


@pytest.fixture(params=list(CODECS.values()), ids=list(CODECS))
def codec(request: pytest.FixtureRequest) -> Codec:
    """Each of the two subprotocols."""
    chosen: Codec = request.param
    return chosen


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


BAD_JSON: list[tuple[bytes, int | None]] = [
    (b"", None),
    (b"\x00", None),
    (b"\xff\xfe", None),
    (b"{", None),
    (b"null", None),
    (b"[]", None),
    (b"5", None),
    (b'"ping"', None),
    (b'{"type":"ping"} {"type":"ping"}', None),
    (b'{"type":"ping","id":NaN}', None),
    (b'{"type":"ping","id":Infinity}', None),
    (b'{"type":"ping","id":' + b"9" * 401 + b"}", None),
    (b'{"type":"ping","id":1e400}', None),
    (b'{"type":"create","id":7,"name":"A","rules":{"target":' + b"9" * 5000 + b"}}", 7),
    (b'{"type":"create","id":7,"name":"A","rules":{"target":1e400}}', 7),
    (b'{"type":"create","id":7,"name":"A","rules":{"target":NaN}}', None),
    (b'{"id":7}', 7),
    (b'{"id":7,"type":"PING"}', 7),
    (b'{"id":7,"type":"ping ","x":1}', 7),
    (b'{"id":7,"type":null}', 7),
    (b'{"id":7,"type":["ping"]}', 7),
    (b'{"id":7,"type":"ping","type":"start"}', 7),
    (b'{"id":7,"type":"say","text":"\\ud800"}', None),
    (b'{"id":7,"type":"say","text":"\xed\xa0\x80"}', 7),
    (b'{"id":7,"type":"say","text":"\xff"}', 7),
    (b'{"id":7,"type":"say"', None),
    (b'{"id":7,"type":"say"}', 7),
    (b'{"id":7,"type":"declare","deal":1,"batch":1,"kind":"high"}', 7),
]


@pytest.mark.parametrize(("data", "number"), BAD_JSON)
def test_what_is_no_command_is_a_bad_message(data: bytes, number: int | None) -> None:
    with pytest.raises(BadMessage) as caught:
        JSON.decode_command(data)
    assert caught.value.id == number
    assert caught.value.reason == str(caught.value) != ""


MAP_OF_RULES = MSGPACK.encode({"type": "create", "id": 3, "name": "A", "rules": {"x": 1}})[:-1]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\x80",
        b"\x81\xa4type",
        b"\x81\xa4type\xa4pin",
        b"\x81\x01\x02",
        b"\x81\xc4\x04type\xa4ping",
        b"\x81\xa4type\xc4\x04ping",
        b"\xdf\xff\xff\xff\xff",
        b"\xd7\xff" + b"\xff" * 8,
        b"\x82\xa4type\xa4ping\xa2id\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
        b"\x82\xa4type\xa3say\xa4text\xa3\xed\xa0\x80",
        b"\x82\xa4type\xa3say\xa4text\xc4\x03abc",
        MAP_OF_RULES,
        MAP_OF_RULES + b"\xdd\xff\xff\xff\xff",
        MAP_OF_RULES + b"\xd7\xff" + b"\xff" * 8,
        MAP_OF_RULES + b"\x81\x81\x01\x01\x01",
        MAP_OF_RULES + b"\x81\x01\x01",
    ],
)
def test_no_command_in_bytes_either(data: bytes) -> None:
    with pytest.raises(BadMessage):
        MSGPACK.decode_command(data)


@pytest.mark.parametrize("depth", [9, 100, 1500, 8000])
@pytest.mark.parametrize(
    "frame",
    [
        b'{"type":"create","id":7,"name":"A","rules":{"target":%s}}',
        b'{"type":"create","id":7,"name":"A","rules":{},"settings":{"talk":%s}}',
        b'{"type":"configure","id":7,"rules":{"target":%s}}',
        b'{"type":"configure","id":7,"settings":{"talk":%s}}',
        b'{"type":"propose","id":7,"rules":{"napola":%s}}',
        b'{"type":"ping","id":7,"more":%s}',
        b'{"type":%s,"id":7}',
        b'{"type":"ping","id":%s}',
    ],
)
def test_a_deep_frame_is_a_bad_message(frame: bytes, depth: int) -> None:
    for deep in (b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth):
        with pytest.raises(BadMessage) as caught:
            JSON.decode_command(frame % deep)
        assert caught.value.id in {7, None}, "how deep an id is found depends on the Python"


@pytest.mark.parametrize("depth", [9, 100, 1500, 16_000])
@pytest.mark.parametrize("opened", [b"\x91", b"\x81\xa1a"], ids=["list", "map"])
def test_a_deep_frame_in_bytes_is_one_too(opened: bytes, depth: int) -> None:
    with pytest.raises(BadMessage):
        MSGPACK.decode_command(MAP_OF_RULES + opened * depth + b"\x01")


@pytest.mark.parametrize("tag", ["create", "configure", "propose"])
@pytest.mark.parametrize("inner", [1, "", [], {}], ids=["numbers", "texts", "lists", "maps"])
def test_more_than_any_slip_is_no_command(codec: Codec, tag: str, inner: object) -> None:
    command = {"type": tag, "name": "A"} if tag == "create" else {"type": tag}
    shapes = (
        lambda times: {"target": [inner] * times},
        lambda times: {"target": {str(key): inner for key in range(times)}},
        lambda times: {"target": [[inner] * times] if inner in (1, "") else [inner] * times},
    )
    for shape in shapes:
        codec.decode_command(codec.encode({**command, "rules": shape(commands.FEW)}))
        for part in ("rules", "settings") if tag == "configure" else ("rules",):
            with pytest.raises(BadMessage) as caught:
                codec.decode_command(codec.encode({**command, part: shape(commands.FEW + 1)}))
            assert caught.value.code == f"bad_{part}"


@pytest.mark.parametrize(
    ("frame", "field", "element"),
    [
        ({"type": "create", "name": "A"}, "rules", None),
        ({"type": "configure"}, "settings", None),
        ({"type": "arrange"}, "names", ["A"]),
        ({"type": "arrange"}, "names", [None]),
    ],
)
def test_lists_and_maps_have_bounds(
    codec: Codec, frame: dict[str, Any], field: str, element: list[Any] | None
) -> None:
    def of(times: int) -> bytes:
        value = {f"k{key}": 1 for key in range(times)} if element is None else element * times
        return codec.encode({**frame, field: value})

    codec.decode_command(of(commands.MOST))
    with pytest.raises(BadMessage) as caught:
        codec.decode_command(of(commands.MOST + 1))
    assert caught.value.code == ("bad_message" if field == "names" else f"bad_{field}")


@pytest.mark.parametrize("value", [1, "cirulla", [], None])
def test_rules_that_are_no_map_are_a_bad_message(codec: Codec, value: object) -> None:
    with pytest.raises(BadMessage) as caught:
        codec.decode_command(codec.encode({"type": "create", "name": "A", "rules": value}))
    assert caught.value.code == "bad_message"


def test_of_a_field_named_twice_the_last_counts() -> None:
    assert JSON.decode_command(b'{"type":"ping","id":4,"id":5}') == commands.Ping(id=5)


@pytest.mark.parametrize("position", range(5))
def test_a_reason_never_repeats_a_secret(codec: Codec, position: int) -> None:
    fields: list[dict[str, Any]] = [
        {"type": TOKEN},
        {"type": "resume", "room": "KRTNWXYZ", "token": [TOKEN]},
        {"type": "resume", "room": "KRTNWXYZ", TOKEN: "token"},
        {"type": "declare", "deal": 1, "batch": 1, "kind": TOKEN},
        {"type": "play", "deal": 1, "turn": 1, "card": TOKEN, "take": []},
    ]
    with pytest.raises(BadMessage) as caught:
        codec.decode_command(codec.encode(fields[position]))
    assert TOKEN not in caught.value.reason


@pytest.mark.parametrize(
    "name", ["\x1b[2J", "x" * 300, "Pass-Word", "a`\n - at b", "Invalid value 'x'"]
)
def test_a_strange_field_is_not_named(codec: Codec, name: str) -> None:
    with pytest.raises(BadMessage) as caught:
        codec.decode_command(codec.encode({"type": "ping", name: 1}))
    assert caught.value.reason == "unknown field"


@given(st.binary(max_size=200))
def test_noise_is_a_bad_message(data: bytes) -> None:
    for codec in CODECS.values():
        with pytest.raises(BadMessage):
            codec.decode_command(data)


@given(st.data(), st.sampled_from(COMMANDS), st.sampled_from(list(CODECS.values())))
def test_a_damaged_command_is_a_command_or_a_bad_message(
    data: st.DataObject, command: commands.ClientCommand, codec: Codec
) -> None:
    whole = bytearray(codec.encode(command))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    number, reason = None, ""
    try:
        number = codec.decode_command(cut).id
    except BadMessage as fault:
        number, reason = fault.id, fault.reason
    assert TOKEN not in reason
    assert number is None or 1 <= number < 2**53


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**64), 2**65) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from(COMMANDS), st.dictionaries(st.text(max_size=8), JSON_VALUES, max_size=3))
def test_a_command_with_anything_more_is_refused(
    command: commands.ClientCommand, more: dict[str, Any]
) -> None:
    fields = msgspec.json.decode(JSON.encode(command))
    news = {name: value for name, value in more.items() if name not in fields}
    if not news or set(news) & set(command.__struct_encode_fields__):
        return
    with pytest.raises(BadMessage):
        JSON.decode_command(msgspec.json.encode(fields | news))

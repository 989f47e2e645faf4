"""What is made of frames that are no command."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scopa_protocol import commands
from scopa_protocol.codec import (
    CODECS,
    JSON,
    MSGPACK,
    BadMessage,
    Codec,
)
from support.wire import COMMANDS, TOKEN

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


@pytest.mark.parametrize("wrong", ["", "0D", "11D", "7d", "7D\n", "a` - at `$.x`", "x" * 300])
@pytest.mark.parametrize(
    ("card", "take", "place"), [(None, [], "card"), ("7D", ["7S", None], "take[1]")]
)
def test_what_is_no_card_hears_how_cards_are_written(
    codec: Codec, wrong: str, card: str | None, take: list[str | None], place: str
) -> None:
    cards = {"card": card or wrong, "take": [one or wrong for one in take]}
    with pytest.raises(BadMessage) as caught:
        codec.decode_command(codec.encode({"type": "play", "deal": 1, "turn": 1, **cards}))
    assert caught.value.reason == (
        r"Expected `str` matching regex '^(10|[1-9])[DCSB](?!\\n)$'" + f" - at `$.{place}`"
    )


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

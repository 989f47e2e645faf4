"""Frames that no client of good will sends, in both encodings."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from scopa_protocol.codec import MAX_FRAME, Format

from .wire import COMMANDS

ZEROS: Final = b"0" * (MAX_FRAME - 200)
CREATE: Final = b'{"type":"create","id":7,"name":"A","rules":{"target":'
PING: Final = b'{"type":"ping","id":7'
SAY: Final = b'{"type":"say","id":7,"text":"'

JSON: Final[dict[str, bytes]] = {
    "nothing": b"",
    "blank": b" " * 9000,
    "null": b"null",
    "a number": b"7",
    "a text": b'"ping"',
    "a list": b'[{"type":"ping"}]',
    "no type": b'{"id":7}',
    "a type that is a number": b'{"type":1,"id":7}',
    "a type that is a list": b'{"type":["ping"],"id":7}',
    "a type in capitals": b'{"type":"PING","id":7}',
    "two frames in one": b'{"type":"ping"}{"type":"ping"}',
    "more after it": PING + b"} x",
    "a byte order mark": b"\xef\xbb\xbf" + PING + b"}",
    "single quotes": b"{'type':'ping'}",
    "a comment": PING + b"/* */}",
    "a type twice": b'{"type":"ping","type":"leave","id":7}',
    "an id twice": PING + b',"id":8,"id":9,"id":0}',
    "an id 1500 times": PING + b"".join(b',"id":%d' % n for n in range(1500)) + b"}",
    "10^400 as an id": PING[:-1] + b"1" + b"0" * 400 + b"}",
    "10^16000 as an id": PING[:-1] + b"1" + ZEROS + b"}",
    "2^53 as an id": PING[:-1] + b"9007199254740992}",
    "a negative id": PING[:-1] + b"-7}",
    "an id that is true": PING[:-1] + b"true}",
    "an id that is a float": PING[:-1] + b"7.5}",
    "10^400 as a rule": CREATE + b"1" + b"0" * 400 + b"}}",
    "10^4299 as a rule": CREATE + b"1" + b"0" * 4299 + b"}}",
    "10^16000 as a rule": CREATE + b"1" + ZEROS + b"}}",
    "-10^400 as a rule": CREATE + b"-1" + b"0" * 400 + b"}}",
    "1e400 as a rule": CREATE + b"1e400}}",
    "1e308 as a rule": CREATE + b"1e308}}",
    "a long fraction": CREATE + b"0." + ZEROS + b"1}}",
    "NaN": CREATE + b"NaN}}",
    "Infinity": CREATE + b"-Infinity}}",
    "deep lists": CREATE + b"[" * 8000 + b"]" * 8000 + b"}}",
    "deep lists, cut": CREATE + b"[" * 16000,
    "deep maps": CREATE + b'{"a":' * 2600 + b"1" + b"}" * 2600 + b"}}",
    "5000 lists as a rule": CREATE + b"[" + b",".join([b"[]"] * 5000) + b"]}}",
    "5000 maps as a rule": CREATE + b"[" + b",".join([b"{}"] * 5000) + b"]}}",
    "1400 rules": CREATE + b"1" + b"".join(b',"k%d":1' % n for n in range(1400)) + b"}}",
    "a rule with a long name": CREATE + b'1,"' + b"k" * 16000 + b'":1}}',
    "3000 cards": b'{"type":"play","id":7,"deal":1,"turn":1,"card":"1D","take":['
    + b",".join([b'"2D"'] * 3000)
    + b"]}",
    "3200 names": b'{"type":"arrange","id":7,"names":[' + b",".join([b"null"] * 3200) + b"]}",
    "a lone surrogate": SAY + b'\\ud800"}',
    "surrogates turned round": SAY + b'\\udc00\\ud800"}',
    "an escape cut short": SAY + b'\\u00"}',
    "an escape of nothing": SAY + b'\\x41"}',
    "a raw NUL": SAY + b'\x00"}',
    "a raw line end": SAY + b'\n"}',
    "escaped NULs": SAY + b"\\u0000" * 2000 + b'"}',
    "16 KB of talk": SAY + b"a" * 16000 + b'"}',
    "16 KB of marks": SAY + b"a" + "\u0301".encode() * 8000 + b'"}',
    "16 KB of joiners": SAY + "a\u200d".encode() * 4000 + b'"}',
    "16 KB of one wide letter": SAY + "\ufdfa".encode() * 5000 + b'"}',
    "a long name": b'{"type":"create","id":7,"name":"' + b"A" * 16000 + b'","rules":{}}',
    "a name of ligatures": b'{"type":"create","id":7,"name":"'
    + "\ufdfa".encode() * 5000
    + b'","rules":{}}',
    "a long passcode": b'{"type":"look","id":7,"room":"KRTNWXYZ","passcode":"'
    + b"p" * 16000
    + b'"}',
    "a long room": b'{"type":"look","id":7,"room":"' + b"K" * 16000 + b'"}',
    "a room with a NUL": b'{"type":"look","id":7,"room":"KRTN\\u0000XYZ"}',
    "a long token": b'{"type":"resume","id":7,"room":"KRTNWXYZ","token":"' + b"t" * 16000 + b'"}',
}
"""Bytes for a text frame, by what is wrong with them. UTF-8 that isn't is for `BROKEN`."""

BROKEN: Final[dict[str, bytes]] = {
    "a raw surrogate": SAY + b'\xed\xa0\x80"}',
    "a stray continuation": SAY + b'\x80"}',
    "a letter cut short": SAY + b'\xe2\x82"}',
    "an overlong NUL": SAY + b'\xc0\x80"}',
    "beyond Unicode": SAY + b'\xf4\x90\x80\x80"}',
    "all 255": b"\xff" * 4000,
}
"""No UTF-8: in a text frame WebSocket itself forbids it."""

_START: Final = b"\x84\xa4type\xa6create\xa2id\x07\xa4name\xa1A\xa5rules"
_SAY: Final = b"\x83\xa4type\xa3say\xa2id\x07\xa4text"
_PING: Final = b"\x82\xa4type\xa4ping\xa2id"

MSGPACK: Final[dict[str, bytes]] = {
    "nothing": b"",
    "null": b"\xc0",
    "never used": b"\xc1",
    "a number": b"\x07",
    "a list": b"\x91\x81\xa4type\xa4ping",
    "a map of 2^32": b"\xdf\xff\xff\xff\xff",
    "a list of 2^32": _START + b"\x81\xa1a\xdd\xff\xff\xff\xff",
    "a text of 2^32": b"\x81\xdb\xff\xff\xff\xffabc",
    "bytes of 2^32": b"\x81\xa4type\xc6\xff\xff\xff\xffabc",
    "an extension of 2^32": b"\x81\xa4type\xc9\xff\xff\xff\xff\x05abc",
    "deep lists": _START + b"\x81\xa1a" + b"\x91" * 16000 + b"\xc0",
    "deep maps": _START + b"\x81\xa1a" * 5000 + b"\xc0",
    "16000 lists as a rule": _START + b"\x81\xa6target\xdc\x3e\x80" + b"\x90" * 16000,
    "16000 maps as a rule": _START + b"\x81\xa6target\xdc\x3e\x80" + b"\x80" * 16000,
    "an extension": _PING + b"\xc7\x04\x05abcd",
    "an extension as a rule": _START + b"\x81\xa6target\xd6\x02\x00\x00\x00\x00",
    "a timestamp": _START + b"\x81\xa6target\xd6\xff\x00\x00\x00\x00",
    "a timestamp of no time": _START + b"\x81\xa6target\xd7\xff" + b"\xff" * 8,
    "a long timestamp": _START + b"\x81\xa6target\xc7\x0c\xff" + b"\xff" * 12,
    "keys of bytes": b"\x82\xc4\x04type\xa4ping\xa2id\x07",
    "keys of numbers": b"\x82\xa4type\xa4ping\x07\x07",
    "keys of lists": b"\x82\xa4type\xa6create\x91\x01\x01",
    "a rule named by a map": _START + b"\x81\x81\xa1a\x01\x01",
    "a rule named by a list": _START + b"\x81\x91\x01\x01",
    "a rule named by nothing": _START + b"\x81\xc0\x01",
    "NaN as a rule": _START + b"\x81\xa6target\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
    "infinity as a rule": _START + b"\x81\xa6target\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00",
    "NaN as an id": _PING + b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
    "2^64 - 1 as an id": _PING + b"\xcf" + b"\xff" * 8,
    "-2^63 as an id": _PING + b"\xd3\x80" + b"\x00" * 7,
    "2^64 - 1 as a rule": _START + b"\x81\xa6target\xcf" + b"\xff" * 8,
    "no UTF-8": _SAY + b"\xa2\xff\xfe",
    "a raw surrogate": _SAY + b"\xa3\xed\xa0\x80",
    "bytes as talk": _SAY + b"\xc4\x02hi",
    "a NUL": _SAY + b"\xa1\x00",
    "16 KB of talk": _SAY + b"\xda\x3e\x80" + b"a" * 16000,
    "more after it": _PING + b"\x07\x00",
    "a type twice": b"\x83\xa4type\xa4ping\xa4type\xa5leave\xa2id\x07",
}

FRAMES: Final[dict[Format, dict[str, bytes]]] = {"json": JSON, "msgpack": MSGPACK}


def cut_short(fmt: Format) -> Iterator[bytes]:
    """Every command, ended early at several places."""
    encode = msgspec.msgpack.encode if fmt == "msgpack" else msgspec.json.encode
    for command in COMMANDS:
        whole = encode(command)
        yield from (whole[: len(whole) * part // 7] for part in range(1, 7))


SPOILT: Final[tuple[Any, ...]] = (
    None, True, -1, 2**53, 0.5, "", "\x00", "\x1b[2J", "x" * 5000, "\u202e", "7D", [], ["7D"] * 50,
    [[]], {}, {"": ""}, {"variant": 1, "type": "ping"},
)  # fmt: skip


def spoilt() -> Iterator[dict[str, Any]]:
    """Every command with each of its fields in turn made something else, left out, or one more."""
    for command in COMMANDS:
        sound: dict[str, Any] = msgspec.to_builtins(command)
        for number, name in enumerate(sorted(set(sound) - {"type", "id"})):
            # Not each with each: that would be ten thousand frames.
            for step in range(0, len(SPOILT), 3):
                yield {**sound, name: SPOILT[(number + step) % len(SPOILT)]}
            yield {key: value for key, value in sound.items() if key != name}
        yield {**sound, "x" * 300: 1}

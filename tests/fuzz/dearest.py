"""What the gateway's loop takes for the dearest frames a stranger can send, one at a time.

A gateway runs in this thread's loop, a client in another thread; counted is what the loop's own
callbacks take of the processor, from a frame's coming to its answer's going. Each round brings
names that were never sent before, so that nothing is remembered.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from scopa_protocol.codec import MAX_FRAME, Format
from scopa_protocol.text import SAY_LENGTH
from scopa_server.bounds import Bounds
from support.front import front
from support.hostile_frames import FRAMES
from support.house import House
from support.wire import COMMANDS

ROUNDS: Final = 5
PLAYERS: Final = 6
STAGES: Final = ("before joining", "host in the lobby", "host in a deal")
PATIENCE: Final = 20
WIDE: Final = Bounds(
    max_connections_per_address=10_000,
    max_rooms=10**6,
    max_rooms_per_address=10**6,
    max_new_rooms_per_hour=10**6,
    max_failures_per_address=10**6,
    max_failures_per_room=10**6,
    max_frames_per_second=10**6,
    max_talk_per_minute=10**6,
)
ENCODE: Final[dict[Format, Callable[[Any], bytes]]] = {
    "json": msgspec.json.encode,
    "msgpack": msgspec.msgpack.encode,
}
RE: Final = 7
PING: Final = {"type": "ping", "id": RE}
Kind: TypeAlias = Callable[[int], Any]
"""A frame with something in it so many times."""


class Cost(NamedTuple):
    """Seconds of the loop in all and at one stretch, for a frame of so many bytes."""

    whole: float
    stretch: float
    size: int
    fmt: Format
    stage: str
    what: str


# Frames


def filled(fmt: Format, of: Kind) -> bytes:
    """The biggest frame of a kind that the server takes; `of`: the kind, so many times."""
    encode = ENCODE[fmt]
    fits, most = 1, MAX_FRAME
    while most - fits > 1:
        middle = (fits + most) // 2
        fits, most = (middle, most) if len(encode(of(middle))) <= MAX_FRAME else (fits, middle)
    return encode(of(fits))


def letters(number: int, length: int, first: int = 0x4E00, span: int = 20_000) -> str:
    """Letters of one alphabet, others for each number: Han, unless said otherwise."""
    return "".join(chr(first + (number * length + at) % span) for at in range(length))


def grown(command: dict[str, Any], field: str, by: Kind) -> Kind:
    """A command with a field that can be made as big as one likes."""
    return lambda times: {**command, field: by(times)}


def repeated(what: Any) -> Kind:
    """A list of the same, or a text of it."""
    return lambda times: what * times


def keyed(value: Any) -> Kind:
    """A map of so many keys."""
    return lambda times: {f"k{at}": value for at in range(times)}


def within(field: str, inner: Kind) -> Kind:
    """A map with one value that grows."""
    return lambda times: {field: inner(times)}


def command(tag: str, **fields: Any) -> dict[str, Any]:
    """A numbered command."""
    return {"type": tag, "id": RE, **fields}


def kinds(number: int, room: str) -> Iterator[tuple[str, Kind]]:
    """Frames that can be made as big as one likes."""
    create = command("create", name=f"A{number}", rules={})
    values = {"lists": [[]], "maps": [{}], "numbers": [1], "texts": [""]}
    for field in ("rules", "settings"):
        for what, value in values.items():
            inner = within("target", repeated(value))
            yield f"create: {what} in {field}", grown(create, field, inner)
            yield f"configure: {what} in {field}", grown(command("configure"), field, inner)
        yield f"create: many {field}", grown(create, field, keyed(1))
        yield f"create: {field} in maps", grown(create, field, within("target", keyed({})))
    for what, value in values.items():
        inner = within("napola", repeated(value))
        yield f"propose: {what}", grown(command("propose"), "rules", inner)
    yield "create: a variant", grown(create, "rules", within("variant", repeated("v")))
    yield "say: a key", grown(command("say", text="a"), "key", repeated(str(number)))
    yield "ping: unknown fields", lambda times: {**command("ping"), **keyed(1)(times)}
    texts = (
        (create, "passcode", "\u4e00"),
        (create, "token", "t"),
        (create, "key", "\u4e00"),
        (command("look", room=room), "passcode", "\u4e00"),
        (command("look"), "room", "K"),
        (command("look"), "room", "-"),
        (command("resume", room=room), "token", "t"),
        (command("unseat", seat=1), "name", "\u4e00"),
        (command("seat_bot", seat=1), "level", "x"),
        (command("play", deal=1, turn=1, take=[]), "card", "2"),
        (command("say"), "text", "\u0301"),
        (command("ping"), "type", "p"),
        (command("arrange"), "names", [None]),
        (command("arrange"), "names", ["A"]),
        (command("play", deal=1, turn=1, card="1D"), "take", ["2D"]),
        (command("ping"), "x", [1]),
    )
    for sound, field, value in texts:
        yield f"{sound['type']}: {field} of {value}", grown(sound, field, repeated(value))


def names(number: int, room: str) -> Iterator[tuple[str, Any]]:
    """Names and talk that take long to clean and to compare, other ones for each number."""
    texts = {
        "Han": letters(number, 24),
        "Hangul in pieces": "".join(
            f"{chr(0x1100 + at % 19)}{chr(0x1161 + (number + at) % 21)}{chr(0x11A8 + at % 27)}"
            for at in range(24)
        ),
        "Latin with marks": "".join(
            chr(97 + (number + at) % 26) + "\u0301\u0302\u0303" for at in range(24)
        ),
        "small letters of mathematics": letters(number, 24, 0x1D41A, 26 * 12),
        "ligatures": "\ufdfa",
        "long ligatures": "\ufdfa" * 96,
        "Cherokee": letters(number, 24, 0x13A0, 80),
        "Yi": letters(number, 24, 0xA000, 1100),
        "Vai": letters(number, 24, 0xA500, 260),
        "Cuneiform": letters(number, 24, 0x12000, 900),
    }
    for what, name in texts.items():
        yield f"create: a name of {what}", command("create", name=name, rules={})
        yield f"join: a name of {what}", command("join", room=room, name=name)
        yield f"watch: a name of {what}", command("watch", room=room, name=name)
        yield f"say: {what}", command("say", text=(name * 50)[: 4 * SAY_LENGTH])


def frames(fmt: Format, number: int, room: str) -> Iterator[tuple[str, bytes]]:
    """All that is tried, by what it is."""
    for what, of in kinds(number, room):
        yield what, filled(fmt, of)
    for what, value in names(number, room):
        yield what, ENCODE[fmt](value)
    for what, data in FRAMES[fmt].items():
        yield what, data
    for sound in COMMANDS:
        tag = sound.__struct_config__.tag
        if tag not in {"leave", "ping"}:
            yield f"a sound {tag}", ENCODE[fmt](msgspec.structs.replace(sound, id=RE))


# The client


class Client:
    """A connection that sends bytes and reads what comes, in a thread of its own."""

    def __init__(self, port: int, fmt: Format) -> None:
        self._text = fmt == "json"
        self._decode = msgspec.json.decode if self._text else msgspec.msgpack.decode
        self._encode = ENCODE[fmt]
        self._line = connect(
            f"ws://127.0.0.1:{port}/ws",
            subprotocols=[Subprotocol(f"scopa.v1.{fmt}")],
            compression=None,
            proxy=None,
            max_queue=None,
            legacy=True,
        )

    def send(self, data: bytes) -> dict[str, Any]:
        """Send a frame and wait for its answer; empty once the server has closed."""
        try:
            self._line.send(data, text=self._text)
            while True:
                found: dict[str, Any] = self._decode(self._line.recv(PATIENCE, decode=False))
                if found["type"] == "error" or found.get("re") not in (None, []):
                    return found
        except ConnectionClosed:
            return {}

    def does(self, value: dict[str, Any]) -> dict[str, Any]:
        """Give a sound command; its answer."""
        answer = self.send(self._encode(value))
        assert answer["type"] != "error", answer
        return answer

    def close(self) -> None:
        """Hang up."""
        self._line.close()


# The measure


class Meter:
    """Counts the processor's time that a loop's callbacks take."""

    def __init__(self) -> None:
        self.whole = self.stretch = 0.0

    def reset(self) -> None:
        """Begin anew."""
        self.whole = self.stretch = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While this lasts, the callbacks of this process's loop are counted."""
        kind: Any = asyncio.Handle
        run = kind._run

        def counted(handle: asyncio.Handle) -> None:
            begun = time.thread_time()
            run(handle)
            took = time.thread_time() - begun
            self.whole += took
            self.stretch = max(self.stretch, took)

        kind._run = counted
        try:
            yield
        finally:
            kind._run = run


class Measure:
    """Sends everything from every stage, and says what it took."""

    def __init__(self, port: int, meter: Meter) -> None:
        self._port = port
        self._meter = meter
        self._numbers = count(1)

    def costs(self, rounds: int) -> list[Cost]:
        """The least that each frame took of so many rounds, the dearest first."""
        found: dict[tuple[str, Format, str], Cost] = {}
        for stage in STAGES:
            for fmt in ENCODE:
                for _ in range(rounds):
                    for cost in self._round(fmt, stage):
                        key = (cost.what, fmt, stage)
                        found[key] = min(cost, found.get(key, cost))
        return sorted(found.values(), reverse=True)

    def _round(self, fmt: Format, stage: str) -> Iterator[Cost]:
        host, client = Client(self._port, fmt), Client(self._port, fmt)
        room = self._open(host)
        self._bring(client, stage)
        for what, data in frames(fmt, next(self._numbers), room):
            client.does(PING)
            usual, _, _ = self._sent(client, ENCODE[fmt](PING))
            whole, stretch, answer = self._sent(client, data)
            yield Cost(whole - usual, stretch, len(data), fmt, stage, what)
            if not answer or (stage == STAGES[0] and answer["type"] == "joined"):
                client.close()
                client = Client(self._port, fmt)
                self._bring(client, stage)
        client.close()
        host.close()

    def _sent(self, client: Client, data: bytes) -> tuple[float, float, dict[str, Any]]:
        """What a frame took in all and at one stretch, and its answer."""
        self._meter.reset()
        answer = client.send(data)
        return self._meter.whole, self._meter.stretch, answer

    def _bring(self, client: Client, stage: str) -> None:
        if stage == STAGES[0]:
            return
        self._open(client)
        if stage == STAGES[2]:
            for seat in range(1, PLAYERS):
                client.does(command("seat_bot", seat=seat))
            client.does(command("start"))

    def _open(self, client: Client) -> str:
        settings = {"talk": "always", "watchers": "table", "next_deal_seconds": 0}
        rules = {"variant": "scopa", "players": PLAYERS}
        name = f"Anna {next(self._numbers)}"
        room: str = client.does(command("create", name=name, rules=rules, settings=settings))[
            "room"
        ]
        return room


def dearest(rounds: int = ROUNDS) -> list[Cost]:
    """What everything that is tried costs, the dearest first."""

    async def served() -> list[Cost]:
        meter = Meter()
        async with front(House(bounds=WIDE)) as there:
            with meter.watching():
                return await asyncio.to_thread(Measure(there.port, meter).costs, rounds)

    return asyncio.run(served())

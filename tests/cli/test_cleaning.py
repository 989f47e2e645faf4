"""Whatever text a server puts into whatever field, the terminal gets none of its controls."""

import ast
import asyncio
import json
import os
import re
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import structs

from scopa_cli import output
from scopa_cli.closing import verdict
from scopa_cli.commands.history import Told, notation
from scopa_cli.console import Console
from scopa_cli.entry import Entry
from scopa_cli.heard import Busy, Got, Lost
from scopa_cli.lines import Line, line
from scopa_cli.orders import ORDERS
from scopa_cli.output import SGR, Writer
from scopa_cli.plain import PlainConsole
from scopa_cli.player import Player, Wishes
from scopa_cli.records import write_lines
from scopa_cli.replaying import steps
from scopa_cli.screens import house
from scopa_cli.screens.record import step, story
from scopa_cli.screens.verdicts import verdicts
from scopa_cli.script import Script
from scopa_cli.sense import readable
from scopa_cli.terminal import Terminal
from scopa_cli.verifying import verify
from scopa_protocol.codec import JSON
from scopa_protocol.commands import Join, Watch
from scopa_protocol.frames import (
    Bye,
    Error,
    Hello,
    HistoryFrame,
    Joined,
    RoomFrame,
    ServerFrame,
    Update,
)
from scopa_protocol.text import is_unsafe
from scopa_protocol.views import Count
from support.server_frames import CODE
from support.wire import COUNT, EVENTS, FRAMES, FULL_VIEW, missing

if sys.platform == "win32":
    pytest.skip("a terminal of this kind is needed", allow_module_level=True)

ENDPOINT: Final = "ws://127.0.0.1:8765/ws"
MARK: Final = "zqz"
"""Shows where a field was shown."""
NASTY: Final = (
    f"{MARK}\x1b[8m\x1b[2J\x1b]0;owned\x07\x1bP+q\x1b\\\x9b2J\x9d0;x\x9c\x00\x08\x7f\x05"
    "\u202e\u2066\u2069\u200b\u2028\u2029\ufeff\U000e0041\r\n\x0b\x0c\x85\nforged" + "\u0301" * 40
)
OWN: Final = re.compile(
    r"\x1b\[(?:0|" + "|".join(SGR.values()) + r")m|\r\x1b\[J|\r\x1b\[\d+C|\r(?=\x1b\[\d+C|$)"
)
"""The escape codes that the client writes of its own accord."""
WORDS: Final = (
    *(f"{order} {words}" for order in ORDERS for words in ("", "2")),
    *("1", "7D", "7D 3C", "help", "xyzzy", "", "propose napola=off"),
)
DATA: Final = {"napola", "grande", "of_tomorrow", "options"}
"""Keys that are a server's to choose, beside those that are cards."""
PHASES: Final = ("lobby", "playing", "deal_over", "match_over")


def fields(value: Any) -> set[str]:
    """The names of all fields of a frame that hold text, and those whose keys are data."""
    if isinstance(value, dict):
        inner = (fields(v) | ({k} if _texts(v) else set()) for k, v in value.items())
        return set().union(
            *inner, *([{f"key {k}"} for k in value if not k.isidentifier() or k in DATA])
        )
    if isinstance(value, list):
        return set().union(*map(fields, value))
    return set()


def _texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and any(map(_texts, value)))


def poisoned(value: Any, name: str) -> Any:
    """The same with every text in the fields of a name made hostile."""
    if isinstance(value, dict):
        return {
            (k + NASTY if name == f"key {k}" else k): (
                _hostile(v) if k == name else poisoned(v, name)
            )
            for k, v in value.items()
        }
    return [poisoned(inner, name) for inner in value] if isinstance(value, list) else value


def _hostile(value: Any) -> Any:
    if isinstance(value, list):
        return [_hostile(inner) for inner in value]
    return value + NASTY if isinstance(value, str) else value


def frames() -> Iterator[ServerFrame]:
    """Every type that a server sends, with a view in every phase, for a player and a watcher."""
    for frame in FRAMES:
        if not isinstance(frame, Joined | Update):
            yield frame
    for code, details in (
        ("illegal_capture", {"options": [["7D", "3C"]]}),
        ("bad_rules", {"field": "napola"}),
        ("of_tomorrow", None),
    ):
        yield Error(code=code, message="It is so.", details=details)
    for phase in PHASES:
        view = structs.replace(FULL_VIEW, phase=phase, paused_by=None, count=count())
        yield Update(seq=58, events=EVENTS, view=view)
        yield structs.replace(JOINED, seat=1, view=view)
    watched = structs.replace(view, phase="playing", you=None, paused_by=0, to_play=0)
    yield Update(seq=58, events=EVENTS, view=watched)


def count() -> Count:
    """A count with an item of a later version."""
    side = structs.replace(COUNT.sides[0], points={"cards": 1, "of_tomorrow": 2})
    return structs.replace(COUNT, sides=[side, side])


JOINED = next(frame for frame in FRAMES if isinstance(frame, Joined))


class Screen:
    """What the client writes, by each of its ways to the screen."""

    def __init__(self, charset: str = "utf-8") -> None:
        self.bytes = BytesIO()
        self.charset = charset
        self.writer = Writer(self.bytes, colour=True, charset=charset)

    def check(self) -> str:
        """Everything written; none of it moves, hides or forges anything."""
        text = self.bytes.getvalue().decode(self.charset)
        plain = OWN.sub("", text)
        assert [c for c in plain if c != "\n" and is_unsafe(c)] == []
        assert "\u0301" * 6 not in plain
        return plain


async def shown(frame: ServerFrame | None, data: bytes, console: Console) -> None:
    """Have a player hear a frame in every state, and type whatever may show more of it."""
    watching = isinstance(frame, Joined | Update) and frame.view.you is None
    command = Watch(room=CODE, name="Anna") if watching else Join(room=CODE, name="Anna")
    player = Player(Entry(endpoint=ENDPOINT, command=command, seating=None), console, Wishes())
    console.start(player.typed, player.no_more)
    try:
        before = structs.replace(FULL_VIEW, you=None if watching else 1, seq=1)
        entered = structs.replace(JOINED, seat=before.you, view=before)
        player.hear(Got(frame=entered, data=b"", answers=[], opening=True))
        for opening in (False, True):
            player.hear(Got(frame=frame, data=data, answers=[], opening=opening))
        if isinstance(frame, Error):
            player.hear(Busy(error=frame, delay=1.0))
        if isinstance(frame, Bye):
            player.hear(Lost(why=verdict(1012, frame).why, delay=1.0))
        for typed in WORDS:
            player.typed(typed)
            await asyncio.sleep(0)
    finally:
        console.stop()
        await _let_go()


async def _let_go() -> None:
    here = asyncio.current_task()
    waiting = [task for task in asyncio.all_tasks() if task is not here]
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


def errands(frame: ServerFrame | None) -> Iterator[Line]:
    """What the commands beside the table show of a frame."""
    if isinstance(frame, RoomFrame):
        yield from house.room(frame, 80)
    if isinstance(frame, Hello):
        yield from house.variants(frame.variants, 80)
        yield line(frame.server)
    if isinstance(frame, HistoryFrame):
        for deal in frame.deals:
            told = steps(deal, [NASTY, None])
            yield from (*story(told), *step(told[0], 0, 1), *verdicts([verify(deal, {})]))
            yield from map(
                line, notation(Told(NASTY, ENDPOINT, [NASTY, None], [deal])).splitlines()
            )


@pytest.fixture
def tty() -> Iterator[int]:
    import termios

    leader, follower = os.openpty()
    termios.tcsetwinsize(follower, (24, 80))
    yield follower
    os.close(follower)
    os.close(leader)


def cases() -> Iterator[tuple[ServerFrame, bytes]]:
    """Every frame with each of its fields poisoned in turn, as far as a client reads it."""
    for frame in frames():
        whole = json.loads(JSON.encode(frame))
        for name in sorted(fields(whole)):
            data = json.dumps(poisoned(whole, name)).encode()
            read = readable(data, ENDPOINT)
            if read is not None:
                yield read, data


async def test_no_text_of_a_server_reaches_the_terminal_uncleaned(tty: int) -> None:
    screen = Screen()
    seen: list[ServerFrame] = []
    for frame, data in cases():
        seen.append(frame)
        await shown(frame, data, Terminal(screen.writer, tty, tty))
        screen.writer.lines(errands(frame))
    # A pong holds nothing but numbers and the log's id, and is never shown.
    assert missing(seen, ServerFrame) <= {"Pong"}
    text = screen.check()
    assert text.count(MARK) > 500
    # What begins a line is the client's own: nobody can forge a line in another's name.
    assert "\nforged" not in text


@pytest.mark.parametrize("charset", ["ascii", "latin-1", "cp437"])
async def test_nor_on_a_terminal_with_few_characters(tty: int, charset: str) -> None:
    screen = Screen(charset)
    update = Update(seq=58, events=EVENTS, view=structs.replace(FULL_VIEW, paused_by=None))
    for name in ("name", "text", "watchers", "reserved"):
        data = json.dumps(poisoned(json.loads(JSON.encode(update)), name)).encode()
        await shown(readable(data, ENDPOINT), data, PlainConsole(screen.writer, tty))
    assert MARK in screen.check()


async def test_nor_of_the_lines_for_scripts() -> None:
    screen = Screen()
    entry = Entry(endpoint=ENDPOINT, command=Watch(room=CODE, name="Anna"), seating=None)
    script = Script(entry, show_token=False, out=screen.writer, notes=screen.writer)
    for frame, data in cases():
        script.hear(Got(frame=frame, data=data, answers=[], opening=False))
        if isinstance(frame, HistoryFrame):
            screen.writer.control(write_lines(frame.deals))
    text = screen.bytes.getvalue()
    assert MARK.encode() in text
    assert all(32 <= byte < 127 or byte == 10 for byte in text)


def test_nothing_else_writes_to_the_screen() -> None:
    """Only `Writer` reaches a stream; only these hand it text that it doesn't clean."""
    source = Path(output.__file__).parent
    found: dict[str, set[str]] = {}
    for path in source.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {_name(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        found[path.relative_to(source).as_posix()] = called
    writes = {"print", "sys.stdout.write", "sys.stderr.write", "stdout.write", "stderr.write"}
    # The program's entry: its version, and the system's words when it can't write.
    assert {name for name, called in found.items() if called & writes} == {"__main__.py"}
    raw = {name for name, called in found.items() if any(c.endswith(".control") for c in called)}
    assert raw == {
        "output.py",  # rendered lines
        "terminal.py",  # the cursor's own moves, around rendered lines
        "script.py",  # JSON in ASCII
        "commands/history.py",  # JSON in ASCII
        "commands/rooms.py",  # JSON in ASCII
        "commands/variants.py",  # JSON in ASCII
    }


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "()"

"""Draw the pictures in the README from a real run: `make picture` (needs tmux).

A real server, a host and three friends, each in a terminal of its own; some cards are played by
typing, then the screens are captured with their colours and written as SVG.
"""

import html
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
BIN: Final = Path(sys.executable).parent
SOCKET: Final = "scopa-pictures"
COLUMNS, ROWS = 84, 26
FRIENDS: Final = ("Bruno", "Carla", "Dario")
TURNS: Final = 6
PATIENCE: Final = 20

CHAR, LINE, PAD = 8.4, 18, 14
INK, PAPER = "#d7dae0", "#15181e"
COLOURS: Final = ("#15181e", "#f0716f", "#8bc98b", "#e2c16d", "#7aa8e8", "#c792ea", "#74c7c7", INK)


def tmux(*words: str) -> str:
    """Run tmux on a server of its own."""
    done = subprocess.run(
        ["tmux", "-L", SOCKET, *words], capture_output=True, text=True, check=True
    )
    return done.stdout


def screen(name: str, *, colours: bool = False) -> str:
    """What stands on somebody's screen."""
    return tmux("capture-pane", "-p", *(["-e"] if colours else []), "-t", name)


def said(name: str) -> str:
    """What somebody's screen has shown so far, also what has left it by now."""
    return tmux("capture-pane", "-p", "-S", "-", "-t", name)


def type_in(name: str, text: str) -> None:
    """Type a line on somebody's keyboard."""
    tmux("send-keys", "-t", name, "-l", text)
    tmux("send-keys", "-t", name, "Enter")


def wait_for(what: Callable[[], bool]) -> None:
    """Wait until a screen shows something; AssertionError if it never does."""
    until = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > until:
            shown = "\n".join(map(screen, tmux("list-sessions", "-F", "#S").split()))
            raise TimeoutError(f"the run came to a halt:\n{shown}")
        time.sleep(0.05)


def shown_in(name: str, pattern: str) -> str:
    """The first group of what a pattern finds in what somebody was shown, once it is there."""
    wait_for(lambda: re.search(pattern, said(name)) is not None)
    found = re.search(pattern, said(name))
    assert found is not None
    return found.group(1)


def terminal(name: str, place: Path, words: list[str]) -> None:
    """Open somebody's terminal with a program in it."""
    home = place / name
    home.mkdir()
    command = shlex.join(["env", f"HOME={home}", f"XDG_STATE_HOME={home}", *words])
    size = ("-x", str(COLUMNS), "-y", str(ROWS))
    tmux("new-session", "-d", "-s", name, *size, f"{command}; sleep 60")


def host(place: Path) -> str:
    """Start the server and Anna's table; gives the invite."""
    store = f"sqlite:{place / 'rooms.db'}"
    program = [str(BIN / "scopa-server"), "--port", "0", "--admin-port", "off", "--store", store]
    terminal("server", place, program)
    address = shown_in("server", r"Scopa server on (ws://\S+)")
    table = ["host", "--variant", "scopone", "--name", "Anna", "--server", address]
    terminal("Anna", place, [str(BIN / "scopa"), *table])
    return shown_in("Anna", r"(ws://\S+/[A-Z0-9]{8})\s")


def play(place: Path) -> None:
    """Everybody sits down, and some cards are played."""
    invite = host(place)
    for name in FRIENDS:
        terminal(name, place, [str(BIN / "scopa"), "join", invite, "--name", name])
        wait_for(lambda name=name: "You sit on seat" in said(name))  # type: ignore[misc]
    type_in("Anna", "start")
    for _ in range(TURNS):
        wait_for(lambda: on_turn() is not None)
        mover = on_turn()
        assert mover is not None
        number = quiet_number(screen(mover))
        if number is None:
            break
        type_in(mover, number)
        wait_for(lambda mover=mover: on_turn() != mover)  # type: ignore[misc]
    wait_for(lambda: on_turn() is not None)


def on_turn() -> str | None:
    """Whose prompt asks for a card."""
    for name in ("Anna", *FRIENDS):
        lines = screen(name).rstrip().splitlines()
        if lines and lines[-1].startswith("your turn>"):
            return name
    return None


def quiet_number(shown: str) -> str | None:
    """The number of a card that takes nothing, so the table fills, or takes without a choice."""
    block = shown.rpartition("── Deal")[2]
    rows = re.findall(r"^\D*(\d+)\s+(?:10|\d)[DCSB]\s.*?(\S.*)$", block, re.MULTILINE)
    quiet = [number for number, takes in rows if takes.endswith("no capture")]
    plain = [number for number, takes in rows if " or " not in takes]
    return next(iter([*quiet, *plain]), None)


def spans(line: str) -> Iterator[tuple[str, str]]:
    """The pieces of a captured line, each with its SVG style."""
    bold, colour = False, INK
    for code, text in re.findall(r"(?:\x1b\[([\d;]*)m)?([^\x1b]*)", line):
        for number in map(int, filter(None, code.split(";"))) if code else ():
            if number == 0:
                bold, colour = False, INK
            elif number == 1:
                bold = True
            elif 30 <= number <= 37:
                colour = COLOURS[number - 30]
            elif number == 39:
                colour = INK
        if text:
            yield text, f'fill="{colour}"' + (' font-weight="bold"' if bold else "")


def svg(shown: str, title: str) -> str:
    """A screen as SVG."""
    lines = shown.rstrip("\n").splitlines()
    height = (len(lines) + 1) * LINE + 2 * PAD
    width = round(COLUMNS * CHAR + 2 * PAD)
    rows = [
        f'<text x="{PAD}" y="{PAD + (number + 1) * LINE}" xml:space="preserve">'
        + "".join(f"<tspan {style}>{html.escape(text)}</tspan>" for text, style in spans(line))
        + "</text>"
        for number, line in enumerate(lines)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img"',
            '  font-family="ui-monospace, DejaVu Sans Mono, Menlo, monospace" font-size="14">',
            f"<title>{html.escape(title)}</title>",
            f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>',
            *rows,
            "</svg>",
            "",
        ]
    )


def main() -> int:
    """Exit status."""
    os.environ.pop("NO_COLOR", None)
    try:
        with tempfile.TemporaryDirectory(prefix="scopa-picture-") as place:
            play(Path(place))
            mover = on_turn()
            assert mover is not None
            shown = screen(mover, colours=True)
    finally:
        subprocess.run(["tmux", "-L", SOCKET, "kill-server"], check=False, capture_output=True)
    picture = HERE / "table.svg"
    picture.write_text(svg(shown, "A table of Scopone in the terminal"))
    sys.stdout.write(f"{picture}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

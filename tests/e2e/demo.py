"""A whole match with nobody at the keyboard: a real server and four real clients.

Starts a server on a free port with a store of its own, hosts a table, lets three more clients
in by the invite, tells what happens as the host sees it, and stops everything. Exits 0 when the
match was played to its end.
"""

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

BIN = Path(sys.executable).parent
VARIANT = "scopone_scientifico"
PARTNERS = ("Bruno", "Carla", "Dario")
PATIENCE = 180
"""Seconds that the whole demonstration may take."""


class Failed(Exception):
    """The demonstration didn't go as it should."""


def say(line: str = "") -> None:
    """Tell the person who watches."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def running(
    program: str, words: Sequence[str], home: Path, *, quiet: bool
) -> Iterator[subprocess.Popen[str]]:
    """A program of ours with a home of its own, stopped by its own pid at the end."""
    home.mkdir()
    clean = {name: text for name, text in os.environ.items() if not name.startswith("SCOPA_")}
    clean["PYTHONUTF8"] = "1"
    process = subprocess.Popen(
        [BIN / program, *words],
        env={**clean, "HOME": str(home), "XDG_STATE_HOME": str(home), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if quiet else subprocess.PIPE,
        stderr=(home / "errors").open("w"),
        text=True,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    """What a program prints, line by line."""
    assert process.stdout is not None
    return (line.rstrip("\n") for line in process.stdout)


def first_match(pattern: str, printed: Iterator[str]) -> str:
    """The first group of the first line that matches."""
    for line in printed:
        found = re.search(pattern, line)
        if found:
            return found.group(1)
    raise Failed(f"a program ended without printing {pattern}")


def narration(printed: Iterator[str]) -> Iterator[str]:
    """What the host's client tells, without the table and the hand it shows on every turn."""
    within_table = False
    for line in printed:
        if line.startswith("── Deal"):
            within_table = True
        elif not line.startswith("  "):
            within_table = False
        if not within_table:
            yield line


def play(place: Path) -> None:
    """Host, join, play, count."""
    with ExitStack() as stack:
        store = f"sqlite:{place / 'demo.db'}"
        words = ["--port", "0", "--admin-port", "off", "--store", store, "--log-level", "error"]
        server = stack.enter_context(running("scopa-server", words, place / "server", quiet=False))
        stack.enter_context(time_limit(server))
        address = first_match(r"(ws://\S+)$", lines(server))
        say(f"A server listens on {address}.")

        auto = ["--plain", "--autoplay", "--once"]
        table = ["--variant", VARIANT, "--server", address, "--name", "Anna"]
        host = stack.enter_context(
            running("scopa", ["host", *auto, *table], place / "Anna", quiet=False)
        )
        told = lines(host)
        invite = first_match(r"^(ws://\S+/[A-Z0-9]{8})$", told)
        say(f"Anna hosts {VARIANT} and sends the invite {invite} to her friends.\n")
        friends = [
            stack.enter_context(
                running("scopa", ["join", invite, *auto, "--name", name], place / name, quiet=True)
            )
            for name in PARTNERS
        ]
        won = False
        for line in narration(told):
            won = won or " won the match" in line
            say(line)
        statuses = [client.wait(30) for client in (host, *friends)]
        if any(statuses) or not won:
            raise Failed(f"the clients ended with {statuses}; the match was won: {won}")
        server.terminate()
        if server.wait(15) != 0:
            raise Failed("the server did not stop cleanly")


@contextmanager
def time_limit(server: subprocess.Popen[str]) -> Iterator[None]:
    """Stop the server when it takes too long; the clients then fail and say so."""
    timer = threading.Timer(PATIENCE, server.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def main() -> int:
    """Exit status: 0 for a match played to its end."""
    with tempfile.TemporaryDirectory(prefix="scopa-demo-") as place:
        try:
            play(Path(place))
        except (Failed, OSError, subprocess.TimeoutExpired) as fault:
            say(f"The demonstration failed: {fault}")
            return 1
    say("\nThe match is over, the clients and the server have stopped.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

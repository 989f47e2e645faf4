"""How long people wait at first: for the server to be ready, and for the client's prompt."""

import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path
from statistics import median
from typing import Final

from .contenders import scopa_server
from .line import PATIENCE, Broken
from .machine import Cores, on
from .results import Figure

PROMPT: Final = b"lobby>"


def measure(folder: Path, cores: Cores, rounds: int) -> list[Figure]:
    """Medians of some starts."""
    ready: list[float] = []
    prompts: list[float] = []
    for number in range(rounds):
        start = time.perf_counter()
        server, url = scopa_server(
            folder / str(number), cores.server, f"sqlite:{folder}/{number}/scopa.db"
        )
        ready.append(time.perf_counter() - start)
        try:
            prompts.append(_prompt(folder / str(number), cores, url))
        finally:
            server.stop()
    return [
        Figure(name="server ready", value=round(median(ready), 3), unit="s"),
        Figure(
            name="client's first prompt",
            value=round(median(prompts), 3),
            unit="s",
            note="scopa host, on a terminal, until `lobby>`",
        ),
    ]


def _prompt(home: Path, cores: Cores, url: str) -> float:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    words = ("-m", "scopa_cli", "host", "--server", url, "--name", "Anna")
    clean = {name: text for name, text in os.environ.items() if not name.startswith("SCOPA_")}
    environment = {**clean, "HOME": str(home), "XDG_STATE_HOME": str(home), "TERM": "xterm"}
    start = time.perf_counter()
    with on(cores.load):
        client = subprocess.Popen(
            [sys.executable, *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
        )
    try:
        _await(master, PROMPT)
        return time.perf_counter() - start
    finally:
        client.kill()
        client.wait()
        os.close(slave)
        os.close(master)


def _await(terminal: int, words: bytes) -> None:
    said = b""
    while words not in said:
        readable, _, _ = select.select([terminal], [], [], PATIENCE)
        if not readable:
            raise Broken("the client shows no prompt")
        said += os.read(terminal, 65536)

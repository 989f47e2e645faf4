"""The server as a process of its own: started, killed, stopped, started again."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from typing import Any, Final, Protocol, TypeAlias

READY_WITHIN: Final = 60.0
ENDS_WITHIN: Final = 20.0
READY: Final = "scopa join INVITE"
Program: TypeAlias = tuple[str, ...]
ITSELF: Final[Program] = ("-m", "scopa_server")
HURRIED: Final[Program] = ("-m", "support.hurried_server")


class NotStarted(Exception):
    """The server ended before it served: its exit status and its words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(f"exit {status}: {words}")
        self.status = status
        self.words = words


class ServerProcess:
    """A server that keeps its port and its store over `kill`, `terminate` and `start`.

    `program`: what Python runs.
    """

    def __init__(
        self,
        folder: Path,
        *options: str,
        store: str | None = None,
        program: Program = ITSELF,
    ) -> None:
        self.folder = folder
        self.store = store or f"sqlite:{folder}/scopa.db"
        self.port = 0
        self._admin = 0
        self.options = options
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def url(self) -> str:
        """Where players connect."""
        return f"ws://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """Everything it logged so far, over all its lives."""
        return (self.folder / "log").read_text()

    @property
    def said(self) -> str:
        """What it printed in its latest life."""
        return (self.folder / "out").read_text()

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The log's entries."""
        return [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]

    @property
    def pid(self) -> int:
        """The process."""
        assert self._process is not None
        return self._process.pid

    @property
    def shown(self) -> str:
        """What every user of the machine can see of it and its workers among the processes."""
        words = ["ps", "-o", "args=", "--pid", str(self.pid), "--ppid", str(self.pid)]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    @property
    def running(self) -> bool:
        """Whether it was started and not ended since."""
        return self._process is not None

    def start(self) -> None:
        """Start it and wait until it says how to join. Raises NotStarted."""
        assert self._process is None
        self._admin = 0
        words = {
            "--port": str(self.port),
            "--admin-port": "0",
            "--store": self.store,
            "--log-format": "json",
            # Tests play as fast as the machine goes.
            "--max-frames-per-second": "10000",
        }
        # A secret may stand in a file instead.
        plain = {name: text for name, text in words.items() if f"{name}-file" not in self.options}
        given = [word for pair in plain.items() for word in pair]
        clean = {name: text for name, text in os.environ.items() if not name.startswith("SCOPA_")}
        with (self.folder / "out").open("wb") as out, (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, *self._program, *given, *self.options],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                env={**clean, "PYTHONPATH": str(Path(__file__).parents[1])},
            )
        self._await_ready(self._process)

    def _await_ready(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + READY_WITHIN
        while READY not in (said := self.said):
            status = process.poll()
            if status is not None or time.monotonic() > end:
                self.kill()
                raise NotStarted(-1 if status is None else status, self.log)
            time.sleep(0.005)
        self.port = int(said.splitlines()[0].rpartition(":")[2])

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(SIGKILL)

    def terminate(self) -> int:
        """Ask it to end; its exit status."""
        return self._end(SIGTERM)

    def send(self, number: Signals) -> None:
        """Send a signal, and don't wait."""
        os.kill(self.pid, number)

    def wait(self) -> int:
        """Wait until it has ended; its exit status."""
        process, self._process = self._process, None
        assert process is not None
        try:
            return process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise

    def _end(self, how: Signals) -> int:
        if self._process is None:
            return 0
        self._process.send_signal(how)
        return self.wait()

    @property
    def admin(self) -> int:
        """The port for health and metrics."""
        if not self._admin:
            # Not by the entries: where the disk was full there are torn ones.
            found = re.findall(r'"event": "admin", "host": "[^"]*", "port": (\d+)', self.log)
            self._admin = int(found[-1])
        return self._admin

    def page(self, path: str) -> tuple[int, str]:
        """A page of the admin side: status and text."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"http://127.0.0.1:{self.admin}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, refusal.read().decode()

    def becomes(self, path: str, status: int) -> None:
        """Wait until a page has that status."""
        end = time.monotonic() + READY_WITHIN
        while self.page(path)[0] != status:
            assert time.monotonic() < end, f"{path} doesn't become {status}"
            time.sleep(0.02)

    def logs(self, event: str) -> None:
        """Wait until it has logged an event."""
        end = time.monotonic() + READY_WITHIN
        while all(entry["event"] != event for entry in self.entries):
            assert time.monotonic() < end, f"{event} isn't logged"
            time.sleep(0.02)


class Serve(Protocol):
    """Starts a server in a folder of its own."""

    def __call__(
        self, *options: str, name: str = ..., store: str | None = ..., program: Program = ...
    ) -> ServerProcess:
        """The server, once it is ready."""
        ...

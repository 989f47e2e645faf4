"""What processes cost, from the operating system: processor time and memory (Linux)."""

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_CPUCLOCK_SCHED: Final = 2
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
TICKS: Final = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pids: Iterable[int]) -> float:
    """Processor time that all threads of these processes took so far, user and system."""
    return sum(time.clock_gettime(_clock(pid)) for pid in pids)


def _clock(pid: int) -> int:
    # What clock_getcpuclockid(3) gives: nanoseconds, where /proc/PID/stat counts in hundredths.
    return ((~pid) << 3) | _CPUCLOCK_SCHED


def busy_seconds() -> float:
    """Processor time that everything on this machine took so far, on all cores."""
    fields = Path("/proc/stat").read_text().partition("\n")[0].split()[1:]
    user, nice, system, _, _, irq, soft, *_ = map(int, fields)
    return (user + nice + system + irq + soft) / TICKS


def family(pid: int) -> list[int]:
    """A process and all that it started."""
    return [pid, *(below for child in _children(pid) for below in family(child))]


def _children(pid: int) -> Iterator[int]:
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        yield from map(int, listed.read_text().split())


def memory_bytes(pids: Iterable[int]) -> int:
    """What these processes hold in memory (RSS)."""
    return sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE for pid in pids)

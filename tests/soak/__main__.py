"""Ten minutes of everybody at once against a real server: `make soak ARGS='--minutes 1'`."""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from support.server_process import ServerProcess

from .gauges import Course, logged, read, tasks
from .nuisances import pester
from .tables import Tally, table

PROGRAM: Final = ("-m", "soak.watched_server")
TABLES_PER_NUISANCE: Final = 8
"""How many tables there are to one slow or hostile client."""
WARM_UP: Final = 0.25
"""Which part of the time the server has to reach its usual size."""
LOOKS: Final = 40
EMPTIES_WITHIN: Final = 90.0
"""Seconds in which the server has to forget everybody: a room lingers for ten."""


def main() -> int:
    """Run it; 1 if anything was not as it should be."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--tables", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scopa-soak-") as folder:
        server = ServerProcess(Path(folder), program=PROGRAM)
        server.start()
        try:
            course, tally = asyncio.run(soak(server, options.minutes * 60, options.tables))
            course.status = server.terminate()
        finally:
            server.kill()
        course.log, course.faults = logged(server), tally.faults
    return report(course, tally)


async def soak(server: ServerProcess, seconds: float, tables: int) -> tuple[Course, Tally]:
    """Let everybody at the server for so long, then wait until it has forgotten them."""
    random.seed(1)
    course = Course(idle=read(server), idle_tasks=tasks(server))
    tally = Tally()
    start = time.monotonic()
    ends = start + seconds
    async with asyncio.TaskGroup() as group:
        for number in range(tables):
            group.create_task(table(server.port, number, ends, tally))
        for number in range(max(1, tables // TABLES_PER_NUISANCE)):
            group.create_task(pester(server.port, number, ends, tally))
        await asyncio.sleep(seconds * WARM_UP)
        while time.monotonic() < ends - 5:
            course.loaded.append(await asyncio.to_thread(read, server))
            await asyncio.sleep(seconds / LOOKS)
    await asyncio.to_thread(forget, server, course)
    return course, tally


def forget(server: ServerProcess, course: Course) -> None:
    """Look at the server until it has forgotten everybody, or for too long."""
    end = time.monotonic() + EMPTIES_WITHIN
    while True:
        course.left_tasks = tasks(server)
        course.left = read(server)
        if time.monotonic() > end or not course.leftovers():
            return
        # What was read over HTTP just now takes a moment to close, too.
        time.sleep(1)


def report(course: Course, tally: Tally) -> int:
    """Print the figures, and what is wrong with them."""
    most = max(course.loaded, key=lambda reading: reading.resident_mb)
    rows = {"before": course.idle, "at most": most, "after": course.left}
    print(f"{'':9}{'MB':>8}{'lines':>9}{'rooms':>7}{'files':>7}{'tasks':>7}")
    counted = {"before": course.idle_tasks, "after": course.left_tasks}
    for name, reading in rows.items():
        if reading is not None:
            number = sum(counted[name].values()) if name in counted else ""
            figures = f"{reading.connections:9}{reading.rooms:7}{reading.files:7}{number:>7}"
            print(f"{name:9}{reading.resident_mb:8.1f}{figures}")
    print(f"memory after the warm-up {course.early_mb:.1f} MB, at the end {course.late_mb:.1f} MB")
    waits = sorted(tally.waits)
    if waits:
        middle, slow = waits[len(waits) // 2] * 1000, waits[len(waits) * 99 // 100] * 1000
        print(f"a play was answered in {middle:.1f} ms (median), {slow:.1f} ms (99 of 100)")
    print("done:", ", ".join(f"{count} {what}" for what, count in tally.counts.most_common()))
    print("logged:", ", ".join(f"{count} {what}" for what, count in course.log.most_common()))
    complaints = course.complaints()
    print("\n".join(complaints) if complaints else "Nothing grew, failed or was left over.")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

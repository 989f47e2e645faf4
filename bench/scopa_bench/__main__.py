"""`make bench`, `make bench-peers`: measure the server beside reference points, in one run.

Prints the figures and the goals as Markdown. A full run is kept beside the former ones, with the
date for its name, in bench/results/.
"""

import argparse
import asyncio
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from . import ageing, machine, memory, peers, playing, rules, starting
from .goals import judged
from .line import Broken
from .plan import FULL, PEERS, QUICK, QUICK_PEERS, Plan
from .processes import redis_version
from .report import markdown
from .results import Results

RESULTS: Final = Path(__file__).parents[1] / "results"


def main() -> int:
    """Exit status: 0 if everything was measured, whatever came of it."""
    given = _options()
    start = time.monotonic()

    def say(text: str) -> None:
        sys.stderr.write(f"{time.monotonic() - start:5.0f} s  {text}\n")

    cores = machine.cores()
    # Nothing that was started may be left behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    results = _results(given)
    os.sched_setaffinity(0, cores.load)
    plan = _fitting(_plan(given), say)
    with tempfile.TemporaryDirectory(prefix="scopa-bench-") as folder:
        try:
            _run(measured(plan, Path(folder), cores, results, say))
        except Broken as fault:
            sys.stderr.write(f"The bench failed: {fault}\n")
            return 1
        except KeyboardInterrupt:
            return 130
    results.goals = judged(results)
    sys.stdout.write(markdown(results))
    if given.write or (given.write is None and not given.quick):
        _write(results)
    say("all done")
    return 0


async def measured(
    plan: Plan, folder: Path, cores: machine.Cores, results: Results, say: playing.Say
) -> None:
    """Everything in the plan, one thing after the other."""
    if plan.figures:
        await _figures(plan, folder, cores, results, say)
    await playing.measure(plan, folder, cores, results, say)


async def _figures(
    plan: Plan, folder: Path, cores: machine.Cores, results: Results, say: playing.Say
) -> None:
    results.figures += rules.measure(3, plan.deals_seconds)
    say("the rules: done")
    results.figures += starting.measure(folder / "starting", cores, plan.starts)
    say("starting: done")
    results.figures += await memory.measure(folder, cores, plan.connections, plan.rooms)
    say("connections and rooms: done")
    results.figures += await ageing.measure(folder / "ageing", cores, plan)
    say("old rooms: done")


def _plan(given: argparse.Namespace) -> Plan:
    if given.peers:
        return QUICK_PEERS if given.quick else PEERS
    return QUICK if given.quick else FULL


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything, in a minute")
    parser.add_argument(
        "--peers", action="store_true", help="beside other people's game servers (make bench-peers)"
    )
    parser.add_argument(
        "--write",
        action=argparse.BooleanOptionalAction,
        help="keep the results in bench/results/; a quick run's aren't, unless asked for",
    )
    parser.add_argument("--note", default="", help="a sentence to keep with the results")
    return parser.parse_args()


def _results(given: argparse.Namespace) -> Results:
    return Results(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        quick=given.quick,
        note=given.note,
        machine=machine.described(),
        versions={
            **machine.versions(),
            "store": redis_version(),
            **(machine.peer_versions(peers.FOLDER) if given.peers else {}),
        },
    )


def _fitting(plan: Plan, say: playing.Say) -> Plan:
    """What of the plan this machine's limit on open files allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = plan.files if hard == resource.RLIM_INFINITY else min(hard, plan.files)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
    fitting = plan.within(max(soft, allowed))
    if fitting != plan:
        say(f"at most {hard} open files are allowed (ulimit -Hn): {plan.files} would be needed")
        say(f"measuring at most {fitting.tables[-1]} tables")
    return fitting


def _run(work: Coroutine[Any, Any, None]) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


def _write(results: Results) -> None:
    RESULTS.mkdir(exist_ok=True)
    name = results.date.replace(" ", "-").replace(":", "")
    (RESULTS / f"{name}.md").write_text(markdown(results), encoding="utf-8")
    text = msgspec.json.format(msgspec.json.encode(results), indent=1)
    (RESULTS / f"{name}.json").write_bytes(text + b"\n")


if __name__ == "__main__":
    sys.exit(main())

"""`make chaos`: every fault on purpose, and a table of what held."""

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path
from time import monotonic

from support.redis_server import programs

from . import FAULTS
from .report import rows, table
from .scene import FULL, SHORT, Fault, Result, Scale, perform
from .stage import Stage


class Run:
    """One run of some faults: what it says on the way, and the results."""

    def __init__(self, seed: int, scale: Scale) -> None:
        self.seed = seed
        self.scale = scale
        self.results: list[Result] = []
        self._begun = monotonic()

    def say(self, words: str) -> None:
        """Write a line, with the seconds since the run began."""
        sys.stdout.write(f"{monotonic() - self._begun:6.1f} s  {words}\n")
        sys.stdout.flush()

    async def all(self, faults: list[Fault], kind: str, folder: Path) -> None:
        """Cause all faults of one kind of store, in the seed's order."""
        left = [fault for fault in faults if fault.sqlite == (kind == "sqlite")]
        random.Random(self.seed).shuffle(left)
        while left:
            # Where a fault broke what couldn't be mended, the rest has a new stage.
            place = folder / f"{kind}-{len(left)}"
            async with Stage(place, kind, self.seed, self.scale.program) as stage:
                while left and await self._one(stage, left.pop(0)):
                    pass

    async def _one(self, stage: Stage, fault: Fault) -> bool:
        self.say(fault.name)
        try:
            result = await perform(stage, fault, self.scale)
        except Exception as trouble:
            words = f"{type(trouble).__name__}: {trouble}"
            result = Result(fault.name, broken={"on": [words]})
        self.results.append(result)
        for line in rows(result):
            sys.stdout.write(f"{'':10}{line}\n")
        return not any(result.broken.values())


def main() -> int:
    """Run them; the exit status says whether everything held."""
    words = argparse.ArgumentParser(prog="make chaos ARGS=…", description=__doc__)
    words.add_argument("--seed", type=int, default=1, help="of tables, games, plays and the order")
    words.add_argument("--only", default="", metavar="WORD", help="faults with this in their name")
    words.add_argument("--short", action="store_true", help="as small as in make test")
    words.add_argument("--redis", choices=[*programs()], default=min(programs()))
    asked = words.parse_args()
    chosen = [fault for fault in FAULTS if asked.only in fault.name]
    if not chosen:
        words.error(f"no fault is called {asked.only}; docs/reliability.md lists them")
    run = Run(asked.seed, SHORT if asked.short else FULL)
    with tempfile.TemporaryDirectory() as folder:
        for kind in (asked.redis, "sqlite"):
            asyncio.run(run.all(chosen, kind, Path(folder)))
    run.say(f"done: seed {asked.seed}, {asked.redis}")
    names = [fault.name for fault in FAULTS]
    run.results.sort(key=lambda result: names.index(result.name))
    sys.stdout.write(f"\n{table(run.results)}\n")
    return 1 if any(any(result.broken.values()) for result in run.results) else 0


if __name__ == "__main__":
    sys.exit(main())

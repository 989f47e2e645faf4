"""`make growth-test`: a minute of people who want to fill the store, and a table beside them.

Each of them does one thing as fast as the server lets them, all from one address; four others, from
another, play with quick fingers. Shown is what the store grew by, and what those four felt.
"""

import argparse
import asyncio
import contextlib
import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from support.server_process import ServerProcess
from support.sqlite_log import stored

from .meddling import KINDS, LIMITS, Seen, meddle

HOUR: Final = 3600


def held(path: Path) -> tuple[int, int]:
    """Commits in a SQLite store, and the bytes of all that is in it."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        pages -= db.execute("PRAGMA freelist_count").fetchone()[0]
        return len(stored(path)), pages * db.execute("PRAGMA page_size").fetchone()[0]


def say(line: str) -> None:
    """Tell who watches."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def tell(seen: Seen, kinds: Sequence[str], seconds: float) -> None:
    """What each heard, and what the honest felt."""
    for kind in kinds:
        codes = {code: number for (of, code), number in seen.answers.items() if of == kind}
        ok = codes.pop("ok", 0)
        say(f"  {kind:15} {ok:6} followed, {ok / seconds:6.1f}/s; {codes or 'nothing refused'}")
    waits = sorted(seen.waits) or [0.0]
    middle, most = waits[len(waits) // 2], waits[int(len(waits) * 0.99)]
    say(
        f"  quick table     {len(waits)} cards and clicks, refused {dict(seen.refused)}; "
        f"answer {middle * 1000:.1f} ms, 99th {most * 1000:.1f} ms"
    )


def main() -> int:
    """Exit status: 0 if the quick table was never refused."""
    parser = argparse.ArgumentParser(prog="make growth-test", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", choices=list(KINDS), help="one kind of them alone")
    asked, more = parser.parse_known_args()
    kinds = [asked.only] if asked.only else list(KINDS)
    with tempfile.TemporaryDirectory(prefix="scopa-growth-") as name:
        limits = (*LIMITS, "--max-frames-per-second", "100", *more)
        server = ServerProcess(Path(name), *limits)
        server.start()
        try:
            before = held(Path(name) / "scopa.db")
            seen = asyncio.run(meddle(server.url, kinds, asked.seconds))
        finally:
            server.terminate()
        after = held(Path(name) / "scopa.db")
    commits, size = (new - old for new, old in zip(after, before, strict=True))
    say(f"{len(kinds)} kinds of nuisance for {asked.seconds:.0f} s, beside a quick table of four:")
    tell(seen, kinds, asked.seconds)
    hourly = size / asked.seconds * HOUR / 1e6
    say(f"  the store grew by {commits} commits, {size} bytes: {hourly:.0f} MB an hour")
    return 1 if seen.refused else 0


if __name__ == "__main__":
    sys.exit(main())

"""A program that appends to rooms for ever and prints each commit once it is stored."""

import asyncio
import sys
from pathlib import Path

from scopa_server.journal import Draft
from scopa_server.journal.sqlite import SqliteJournal
from scopa_server.journal.sqlite_tail import FILING, Filing
from support.drafts import after, draft, store


async def main(path: Path, rooms: list[str], filing: Filing) -> None:
    """Append until killed."""
    journal = await SqliteJournal.open(path, filing=filing)
    latest: dict[str, Draft] = {}
    while True:
        for room in rooms:
            latest[room] = after(latest[room]) if room in latest else draft()
            await store(journal, room, [latest[room]])
            sys.stdout.write(f"{room} {latest[room].number} {latest[room].id}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    chosen = Filing(*map(int, sys.argv[3].split(","))) if len(sys.argv) > 3 else FILING
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2].split(","), chosen))

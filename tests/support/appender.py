"""A program that appends to a journal for ever and prints each number once it is stored."""

import asyncio
import sys

from scopa_server.journal import open_journal
from support.drafts import after, draft, store


async def main(url: str, room: str) -> None:
    """Append until killed."""
    journal = await open_journal(url)
    latest = draft()
    while True:
        await store(journal, room, [latest])
        sys.stdout.write(f"{latest.number} {latest.id}\n")
        sys.stdout.flush()
        latest = after(latest)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))

"""What one process says to all, whatever store they share."""

import asyncio

from scopa_server.journal import KEY_BYTES, LOOK, Journal
from server.journal.conftest import Open
from support.drafts import DAY, draft, new_room


async def test_what_is_published_is_heard_by_whoever_listens(
    journal: Journal, url: str, open_again: Open
) -> None:
    other = journal if url.startswith("sqlite") else await open_again()
    await journal.publish(b"nobody listens")
    async with journal.published() as here, other.published() as there:
        for words in (b"one", b"7", b"\x00\xff", b""):
            await other.publish(words)
            async with asyncio.timeout(10):
                assert await anext(aiter(here)) == words
                assert await anext(aiter(there)) == words


async def test_what_is_published_is_no_news_of_a_room(journal: Journal) -> None:
    room = new_room()
    async with journal.watch(room) as hints, journal.published() as words:
        assert await anext(aiter(hints)) == LOOK
        await journal.append(room, draft(), header=None, ttl=DAY)
        await journal.publish(b"words")
        async with asyncio.timeout(10):
            assert await anext(aiter(hints)) == 1
            assert await anext(aiter(words)) == b"words"


async def test_listening_ends_with_the_journal(journal: Journal) -> None:
    async with journal.published() as words:
        await journal.close()
        async with asyncio.timeout(10):
            assert [word async for word in words] == []


async def test_all_share_one_key(journal: Journal, url: str, open_again: Open) -> None:
    other = journal if url.startswith("sqlite") else await open_again()
    keys = await asyncio.gather(*(each.shared_key(10) for each in (journal, other) * 5))
    assert len(set(keys)) == 1
    assert len(keys[0]) == KEY_BYTES
    assert [room async for room in journal.rooms()] == []

"""What waits to be heard: never more than a listener is to keep."""

import asyncio

import pytest

from scopa_server.journal import LOOK, hints
from scopa_server.journal.hints import EVERYBODY, Hint, Hints, Words


async def test_of_hints_the_newest_is_kept() -> None:
    listeners = Hints()
    hint = listeners.add("ROOM", Hint())
    for number in (1, 2, 3):
        listeners.give("ROOM", number)
    assert await anext(hint) == 3
    listeners.hear("ROOM", b"4")
    assert await anext(hint) == 4
    for words in (b"nonsense", b"", b"-1", b"9" * 5000):
        listeners.hear("ROOM", words)
        listeners.give("ROOM", 5)
        assert await anext(hint) == LOOK


async def test_of_words_that_nobody_reads_the_oldest_are_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hints, "WORDS_KEPT", 3)
    listeners = Hints()
    words = listeners.add(EVERYBODY, Words())
    listeners.give(EVERYBODY, LOOK)
    for number in range(6):
        listeners.hear(EVERYBODY, b"%d" % number)
    listeners.end()
    assert [word async for word in words] == [b"3", b"4", b"5"]
    late = listeners.add(EVERYBODY, Words())
    assert [word async for word in late] == []


async def test_own_commits_are_told_when_they_are_stored() -> None:
    listeners = Hints()
    assert not listeners.takes("ROOM", 1)  # nobody listens
    hint = listeners.add("ROOM", Hint())
    assert listeners.takes("ROOM", 2)
    listeners.begin("ROOM", 2)
    listeners.hear("ROOM", b"2")
    listeners.settle("ROOM", 2, stored=True)
    assert await anext(hint) == 2
    # Nothing more of it, however late the store tells, nor of an older one that is sent again.
    listeners.hear("ROOM", b"2")
    assert not listeners.takes("ROOM", 1)
    listeners.hear("ROOM", b"3")
    assert await anext(hint) == 3


async def test_a_number_that_was_another_s_is_told_in_the_end() -> None:
    listeners = Hints()
    hint = listeners.add("ROOM", Hint())
    listeners.begin("ROOM", 2)
    listeners.hear("ROOM", b"2")
    listeners.settle("ROOM", 2, stored=False)
    assert await anext(hint) == 2
    listeners.begin("ROOM", 3)
    listeners.settle("ROOM", 3, stored=False)
    listeners.hear("ROOM", b"3")
    assert await anext(hint) == 3


async def test_a_listener_that_gave_up_misses_nothing_later() -> None:
    hint = Hint()
    waiting = asyncio.ensure_future(anext(hint))
    await asyncio.sleep(0)
    waiting.cancel()
    hint.give(1)
    assert await anext(hint) == 1
    waiting = asyncio.ensure_future(anext(hint))
    hint.give(2)
    hint.give(3)
    assert (await waiting, await anext(hint)) == (2, 3)
    waiting = asyncio.ensure_future(anext(hint))
    hint.end()
    with pytest.raises(StopAsyncIteration):
        await waiting

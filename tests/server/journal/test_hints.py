"""What waits to be heard: never more than a listener is to keep."""

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

"""Failed tries at several processes: one allowance for all, and nothing said that tells who."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from scopa_protocol import commands as c
from scopa_server.bounds import Bounds
from scopa_server.journal.interface import Unavailable
from scopa_server.live import sharing
from scopa_server.live.failures import Failure
from scopa_server.live.sharing import Told
from scopa_server.room.refused import Refused
from support.house import Guest, House
from support.memory_journal import MemoryJournal
from support.tables import token

NOWHERE = "ABCDEFGH"
FREE = 4


def process(journal: MemoryJournal, seed: int = 0) -> House:
    """A process on a store that others share."""
    limits = Bounds(max_failures_per_address=FREE, max_failures_per_room=10)
    house = House(journal, seed=seed, bounds=limits)
    house.rooms.begin()
    return house


@pytest.fixture
def journal() -> MemoryJournal:
    shared = MemoryJournal()
    shared.is_shared = True
    return shared


@pytest.fixture
async def houses(journal: MemoryJournal) -> AsyncIterator[tuple[House, House]]:
    """Two processes that have begun to listen."""
    pair = (process(journal), process(journal, 1))
    await pair[0].quiet()
    yield pair
    for house in pair:
        await house.rooms.close()


async def look(house: House, address: str = "198.51.100.7", room: str = NOWHERE) -> str:
    """What a look at a room comes to."""
    guest = Guest(house)
    guest.visitor.address = address
    try:
        await house.rooms.look(guest.visitor, c.Look(room=room))
    except Refused as refusal:
        return refusal.code.value
    finally:
        await house.quiet()
    return "seen"


async def test_an_address_has_one_allowance_at_all_processes(houses: tuple[House, House]) -> None:
    found = [await look(houses[n % 2]) for n in range(FREE + 2)]
    assert found == ["unknown_room"] * FREE + ["too_fast"] * 2
    assert await look(houses[1], "198.51.100.8") == "unknown_room"


async def test_many_tries_at_once_at_all_processes_are_hardly_more(
    houses: tuple[House, House],
) -> None:
    found = await asyncio.gather(*(look(house) for house in houses for _ in range(FREE * 2)))
    # Each process looks at one while it can't have heard yet of another's; it isn't as many again.
    assert FREE <= found.count("unknown_room") < FREE * len(houses)
    assert set(found) == {"unknown_room", "too_fast"}


async def test_a_wait_is_over_at_all_processes_at_once(houses: tuple[House, House]) -> None:
    for n in range(FREE):
        await look(houses[n % 2])
    for house in houses:
        house.time.advance(1)
    assert await look(houses[0]) == "unknown_room"
    # The next wait is a longer one, and as long at the other.
    for house in houses:
        house.time.advance(1)
        assert await look(house) == "too_fast"


async def test_a_room_under_attack_is_so_at_all_processes(houses: tuple[House, House]) -> None:
    here, there = houses
    for number in range(10):
        assert await look(houses[number % 2], f"attacker {number}") == "unknown_room"
    for house in houses:
        assert await look(house, "attacker 1") == "too_fast"
        assert await look(house, "attacker 1", "ABCDEFGK") != "too_fast"
    host = await here.host()
    assert await look(there, "friend", host.code) == "seen"


async def test_a_token_is_never_delayed_by_what_failed_elsewhere(
    houses: tuple[House, House],
) -> None:
    here, there = houses
    host = await here.host()
    for _ in range(FREE + 1):
        await look(here)
    guest = Guest(there)
    guest.visitor.address = "198.51.100.7"
    await there.rooms.enter(guest.visitor, c.Resume(room=host.code, token=token(0)))
    await there.quiet()
    assert guest.view.you == 0


async def test_words_that_are_lost_cost_some_tries_and_no_more(
    houses: tuple[House, House], journal: MemoryJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(words: bytes) -> None:
        raise Unavailable("down")

    monkeypatch.setattr(journal, "publish", lost)
    assert [await look(houses[0]) for _ in range(FREE)] == ["unknown_room"] * FREE
    assert [await look(houses[1]) for _ in range(FREE - 1)] == ["unknown_room"] * (FREE - 1)
    monkeypatch.undo()
    assert await look(houses[1]) == "unknown_room"
    for house in houses:
        assert await look(house) == "too_fast"


async def test_words_of_anybody_else_change_nothing(
    houses: tuple[House, House], journal: MemoryJournal
) -> None:
    mark = b"m" * 8
    for words in (
        b"",
        b"nonsense",
        b"\xc1",
        b"\x92\xa1\xff\x90",
        b"\x93\xa1x\x90" + b"\x91" * 100_000,
        msgspec.msgpack.encode(["x", [[mark, b"a mark that is too long"]]]),
        msgspec.msgpack.encode(["x", [[mark, None]] * (sharing.TOLD_AT_ONCE + 1)]),
        msgspec.msgpack.encode(Told("x", (Failure(mark, None), Failure(mark, mark)))),
    ):
        await journal.publish(words)
    await houses[0].quiet()
    found = [await look(houses[n % 2]) for n in range(FREE + 1)]
    assert found == ["unknown_room"] * FREE + ["too_fast"]


async def test_what_is_said_tells_nobody_who_failed_at_what(
    houses: tuple[House, House], journal: MemoryJournal
) -> None:
    async with journal.published() as published:
        for key in (journal.key, b"other" * 6):
            journal.key = key
            for house in houses:
                house.rooms._failures.share(key)
            await look(houses[0])
            await look(houses[1])
        words = [await anext(aiter(published)) for _ in range(4)]
    for word in words:
        assert len(word) < 60
        for secret in (b"198.51", bytes((198, 51, 100, 7)), NOWHERE.encode()):
            assert secret not in word
    failed = [msgspec.msgpack.decode(word)[1] for word in words]
    assert failed[0] == failed[1]
    assert failed[2] == failed[3]
    assert failed[0] != failed[2]


async def test_a_key_that_the_store_has_lost_is_agreed_on_anew(
    journal: MemoryJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "KEY_ASKED_SECONDS", 0)
    houses = process(journal), process(journal, 1)
    await houses[0].quiet()
    journal.key = b"n" * 32
    await houses[0].quiet()
    found = [await look(houses[n % 2]) for n in range(FREE + 1)]
    assert found == ["unknown_room"] * FREE + ["too_fast"]
    for house in houses:
        await house.rooms.close()


@pytest.mark.parametrize("key", [b"", b"k" * 65, b"k" * 100_000], ids=["none", "65", "long"])
async def test_a_key_of_any_length_is_one(journal: MemoryJournal, key: bytes) -> None:
    journal.key = key
    houses = process(journal), process(journal, 1)
    await houses[0].quiet()
    found = [await look(houses[n % 2]) for n in range(FREE + 1)]
    assert found == ["unknown_room"] * FREE + ["too_fast"]
    for house in houses:
        await house.rooms.close()


async def test_a_store_that_is_down_at_first_is_asked_again(
    journal: MemoryJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "RETRY_SECONDS", 0)
    journal.down = True
    houses = process(journal), process(journal, 1)
    await houses[0].quiet()
    journal.down = False
    await houses[0].quiet()
    found = [await look(houses[n % 2]) for n in range(FREE + 1)]
    assert found == ["unknown_room"] * FREE + ["too_fast"]
    for house in houses:
        await house.rooms.close()


async def test_a_fault_in_listening_does_not_end_it(
    houses: tuple[House, House], journal: MemoryJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "RETRY_SECONDS", 0)
    decode = sharing._decode

    def fails(words: bytes) -> Told:
        monkeypatch.setattr(sharing, "_decode", decode)
        raise ZeroDivisionError

    monkeypatch.setattr(sharing, "_decode", fails)
    await journal.publish(b"words")
    await houses[0].quiet()
    found = [await look(houses[n % 2]) for n in range(FREE + 1)]
    assert found == ["unknown_room"] * FREE + ["too_fast"]


async def test_one_process_alone_shares_nothing() -> None:
    house = process(MemoryJournal())
    await house.quiet()
    assert house.rooms._shares is None
    assert [await look(house) for _ in range(FREE + 1)][-1] == "too_fast"
    await house.rooms.close()

"""What every kind of store must do alike."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scopa_server.journal import (
    LOOK,
    LOST,
    Draft,
    Journal,
    Snapshot,
    Stored,
    Taken,
    Touch,
    Unavailable,
)
from server.journal.conftest import Open
from support.drafts import DAY, after, chain, draft, new_room, store


async def append(journal: Journal, room: str, new: Draft) -> Stored | Taken:
    return await journal.append(room, new, header=None, ttl=DAY)


async def test_appended_commits_are_read_in_order(journal: Journal) -> None:
    room, drafts = new_room(), chain([b"one", b"two", b"three"])
    await store(journal, room, drafts)
    commits = await journal.read(room)
    assert [(c.number, c.id, c.previous, c.payload) for c in commits] == [
        (d.number, d.id, d.previous, d.payload) for d in drafts
    ]
    assert await journal.top(room) == (3, drafts[2].id)


async def test_read_after_a_number(journal: Journal) -> None:
    room, drafts = new_room(), chain([b""] * 12)
    await store(journal, room, drafts)
    assert [c.number for c in await journal.read(room, after=9)] == [10, 11, 12]
    assert await journal.read(room, after=12) == []


async def test_stored_time_is_the_one_read(journal: Journal) -> None:
    room = new_room()
    outcome = await append(journal, room, draft())
    assert isinstance(outcome, Stored)
    assert outcome.at > 1_700_000_000_000
    assert (await journal.read(room))[0].at == outcome.at


async def test_same_draft_again_is_stored_once(journal: Journal) -> None:
    room, first = new_room(), draft()
    outcome = await append(journal, room, first)
    assert await append(journal, room, first) == outcome
    assert len(await journal.read(room)) == 1


async def test_same_draft_again_after_others_followed(journal: Journal) -> None:
    room, drafts = new_room(), chain([b"a", b"b", b"c"])
    await store(journal, room, drafts)
    commits = await journal.read(room)
    for each, commit in zip(drafts, commits, strict=True):
        assert await append(journal, room, each) == Stored(commit.at)


async def test_resent_draft_keeps_the_newer_header(journal: Journal) -> None:
    room, drafts = new_room(), chain([b"a", b"b"])
    await store(journal, room, drafts[:1], header=b"old")
    await store(journal, room, drafts[1:], header=b"new")
    await store(journal, room, drafts[:1], header=b"old")
    assert await journal.header(room) == b"new"


async def test_another_draft_of_the_same_number_is_taken(journal: Journal) -> None:
    room, first = new_room(), draft()
    await store(journal, room, [first])
    assert await append(journal, room, draft()) == Taken()
    assert [c.id for c in await journal.read(room)] == [first.id]


async def test_wrong_predecessor_is_taken(journal: Journal) -> None:
    room = new_room()
    await store(journal, room, [draft()])
    assert await append(journal, room, after(draft())) == Taken()


async def test_gap_is_taken(journal: Journal) -> None:
    room, first = new_room(), draft()
    await store(journal, room, [first])
    assert await append(journal, room, draft(3, first.id)) == Taken()


async def test_missing_room_is_never_continued(journal: Journal) -> None:
    room = new_room()
    assert await append(journal, room, draft(2, "0123456789abcdef")) == Taken()
    assert await journal.top(room) is None
    assert await journal.header(room) is None


async def test_deleted_room_is_never_continued(journal: Journal) -> None:
    room, first = new_room(), draft()
    await store(journal, room, [first])
    await journal.snapshot(room, Snapshot(1, first.id, b"state"))
    await journal.delete(room)
    assert await append(journal, room, after(first)) == Taken()
    assert await journal.read(room) == []
    assert await journal.header(room) is None
    assert await journal.latest_snapshot(room) is None
    assert isinstance(await append(journal, room, draft()), Stored)
    assert await journal.header(room) == LOST


async def test_racing_appends_store_exactly_one(
    journal: Journal, url: str, open_again: Open
) -> None:
    other = journal if url.startswith("sqlite") else await open_again()
    room, latest = new_room(), draft()
    await store(journal, room, [latest])
    for _ in range(20):
        rivals = [after(latest), after(latest)]
        outcomes = await asyncio.gather(
            append(journal, room, rivals[0]), append(other, room, rivals[1])
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Stored", "Taken"]
        latest = rivals[0] if isinstance(outcomes[0], Stored) else rivals[1]
    assert await journal.top(room) == (21, latest.id)


async def test_many_rooms_share_batches(journal: Journal) -> None:
    rooms = {new_room(): draft(payload=str(number).encode()) for number in range(100)}
    before = journal.batches
    outcomes = await asyncio.gather(*(append(journal, room, rooms[room]) for room in rooms))
    assert all(isinstance(outcome, Stored) for outcome in outcomes)
    assert journal.batches - before <= 10
    assert await journal.tops(rooms) == {room: (1, each.id) for room, each in rooms.items()}


async def test_drafts_of_one_room_in_one_batch_are_decided_in_order(journal: Journal) -> None:
    room, drafts = new_room(), chain([b""] * 5)
    outcomes = await asyncio.gather(*(append(journal, room, each) for each in [*drafts, draft()]))
    assert [type(outcome) for outcome in outcomes] == [Stored] * 5 + [Taken]


async def test_cancelled_caller_loses_no_write(journal: Journal) -> None:
    rooms = [new_room() for _ in range(20)]
    callers = [asyncio.create_task(append(journal, room, draft())) for room in rooms]
    await asyncio.sleep(0)
    for caller in callers:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    async with asyncio.timeout(10):
        while set(await journal.tops(rooms)) != set(rooms):
            pass


async def test_reopening_sees_everything(journal: Journal, open_again: Open) -> None:
    room, drafts = new_room(), chain([b"a", b"b"])
    await store(journal, room, drafts)
    await journal.snapshot(room, Snapshot(2, drafts[1].id, b"state"))
    await journal.close()
    again = await open_again()
    assert [c.payload for c in await again.read(room)] == [b"a", b"b"]
    assert await again.header(room) == b"header"
    assert await again.latest_snapshot(room) == Snapshot(2, drafts[1].id, b"state")
    assert await append(again, room, after(drafts[1])) != Taken()


async def test_close_finishes_the_appends_under_way(journal: Journal, open_again: Open) -> None:
    rooms = [new_room() for _ in range(20)]
    callers = [asyncio.create_task(append(journal, room, draft())) for room in rooms]
    await asyncio.sleep(0)
    await journal.close()
    assert all(isinstance(outcome, Stored) for outcome in await asyncio.gather(*callers))
    assert set(await (await open_again()).tops(rooms)) == set(rooms)


async def test_closed_journal_is_unavailable(journal: Journal) -> None:
    await journal.close()
    await journal.close()
    with pytest.raises(Unavailable):
        await append(journal, new_room(), draft())
    with pytest.raises(Unavailable):
        await journal.read(new_room())


async def test_header_is_replaced_only_when_given(journal: Journal) -> None:
    room, drafts = new_room(), chain([b"", b"", b""])
    assert await journal.header(room) is None
    await store(journal, room, drafts[:1], header=b"one")
    await append(journal, room, drafts[1])
    assert await journal.header(room) == b"one"
    await store(journal, room, drafts[2:], header=b"\x00\xff")
    assert await journal.header(room) == b"\x00\xff"


async def test_a_log_without_a_header_is_told_from_no_room(journal: Journal) -> None:
    room = new_room()
    await append(journal, room, draft())
    assert await journal.header(room) == LOST


async def test_header_of_a_taken_draft_is_not_written(journal: Journal) -> None:
    room = new_room()
    await store(journal, room, [draft()], header=b"one")
    assert await journal.append(room, draft(), header=b"two", ttl=DAY) == Taken()
    assert await journal.header(room) == b"one"


async def test_newer_snapshot_replaces_older(journal: Journal) -> None:
    room, drafts = new_room(), chain([b""] * 3)
    await store(journal, room, drafts)
    assert await journal.latest_snapshot(room) is None
    for number, expected in ((2, 2), (1, 2), (3, 3)):
        await journal.snapshot(room, Snapshot(number, drafts[number - 1].id, b"%d" % number))
        kept = Snapshot(expected, drafts[expected - 1].id, b"%d" % expected)
        assert await journal.latest_snapshot(room) == kept


async def test_snapshot_above_or_beside_the_log_is_refused(journal: Journal) -> None:
    room, first = new_room(), draft()
    await journal.snapshot(room, Snapshot(1, first.id, b"no room"))
    await store(journal, room, [first])
    await journal.snapshot(room, Snapshot(2, "0123456789abcdef", b"above"))
    await journal.snapshot(room, Snapshot(1, "0123456789abcdef", b"beside"))
    assert await journal.latest_snapshot(room) is None


async def test_touch_keeps_its_mark(journal: Journal) -> None:
    room, missing = new_room(), new_room()
    await store(journal, room, [draft()])
    assert await journal.shown(room) is None
    for mark in (1_700_000_000_123, 7):
        await journal.touch({room: Touch(DAY, mark), missing: Touch(DAY, mark)})
        assert await journal.shown(room) == mark
    assert await journal.shown(missing) is None
    assert [code async for code in journal.rooms()] == [room]


async def test_watching_hints_at_once_and_at_each_commit(journal: Journal) -> None:
    room, drafts = new_room(), chain([b"", b""])
    async with asyncio.timeout(5), journal.watch(room) as hints:
        assert await anext(hints) == LOOK
        for each in drafts:
            await store(journal, room, [each])
            assert await anext(hints) == each.number


async def test_look_covers_what_came_before_it_was_heard(journal: Journal) -> None:
    room = new_room()
    async with asyncio.timeout(5), journal.watch(room) as hints:
        await store(journal, room, [draft()])
        assert await anext(hints) == LOOK


async def test_unheard_numbers_give_way_to_the_latest(journal: Journal) -> None:
    room, drafts = new_room(), chain([b""] * 3)
    async with asyncio.timeout(5), journal.watch(room) as hints, journal.watch(room) as witness:
        assert await anext(hints) == await anext(witness) == LOOK
        for each in drafts:
            await store(journal, room, [each])
            assert await anext(witness) == each.number
        assert await anext(hints) == 3


async def test_resent_and_taken_drafts_give_no_hint(journal: Journal) -> None:
    room, drafts = new_room(), chain([b""] * 3)
    heard: list[int] = []

    async def listen(hints: AsyncIterator[int]) -> None:
        while 3 not in heard:
            heard.append(await anext(hints))

    async with asyncio.timeout(5), journal.watch(room) as hints:
        listening = asyncio.create_task(listen(hints))
        await store(journal, room, drafts[:2])
        await store(journal, room, drafts[:1])
        assert await append(journal, room, after(drafts[0])) == Taken()
        await store(journal, room, drafts[2:])
        await listening
    assert heard == sorted(heard)


async def test_a_room_may_be_watched_twice_and_again(journal: Journal) -> None:
    room, drafts = new_room(), chain([b"", b""])
    async with asyncio.timeout(5), journal.watch(room) as first:
        assert await anext(first) == LOOK
        async with journal.watch(room) as second:
            assert await anext(second) == LOOK
            await store(journal, room, drafts[:1])
            assert await anext(first) == await anext(second) == 1
        await store(journal, room, drafts[1:])
        assert await anext(first) == 2
    async with asyncio.timeout(5), journal.watch(room) as third:
        assert await anext(third) == LOOK


async def test_watching_ends_with_the_journal(journal: Journal) -> None:
    async with asyncio.timeout(5), journal.watch(new_room()) as hints:
        closing = asyncio.create_task(journal.close())
        assert [number async for number in hints] in ([], [LOOK])
        await closing


async def test_a_store_for_one_process_has_no_gossip(journal: Journal) -> None:
    if not journal.shared:
        assert await journal.gossip(new_room(), "me", b"note", 10) == {}


async def test_a_restored_room_is_what_it_was(journal: Journal) -> None:
    room, copy = new_room(), new_room()
    drafts = chain([b"one", b"two", b"three"])
    await store(journal, room, drafts)
    commits = [msgspec.structs.replace(c, at=c.at - 5000) for c in await journal.read(room)]
    assert await journal.restore(copy, commits, header=b"head", ttl=DAY)
    assert await journal.read(copy) == commits
    assert await journal.header(copy) == b"head"
    assert await journal.top(copy) == (3, drafts[2].id)
    assert isinstance(await append(journal, copy, after(drafts[2])), Stored)


async def test_a_room_that_is_there_is_not_restored(journal: Journal) -> None:
    room, drafts = new_room(), chain([b"one", b"two"])
    await store(journal, room, drafts, header=b"mine")
    commits = await journal.read(room)
    assert not await journal.restore(room, commits[:1], header=b"other", ttl=DAY)
    assert await journal.read(room) == commits
    assert await journal.header(room) == b"mine"


async def test_only_a_whole_chain_is_restored(journal: Journal) -> None:
    room = new_room()
    await store(journal, room, chain([b"one", b"two", b"three"]))
    commits = await journal.read(room)
    for broken in ([], commits[1:], [commits[0], commits[2]], commits[::-1]):
        with pytest.raises(ValueError, match="commit"):
            await journal.restore(new_room(), broken, header=b"", ttl=DAY)


async def test_rooms_lists_each_room_once(journal: Journal) -> None:
    rooms = [new_room() for _ in range(30)]
    await asyncio.gather(*(append(journal, room, draft()) for room in rooms))
    assert sorted([room async for room in journal.rooms()]) == sorted(rooms)


async def test_codes_and_times_that_would_do_harm_are_refused(journal: Journal) -> None:
    for room in ("", "A}{B", "a b", "A\n", "É", "A" * 65):
        with pytest.raises(ValueError, match="code"):
            await append(journal, room, draft())
        with pytest.raises(ValueError, match="code"):
            await journal.header(room)
        with pytest.raises(ValueError, match="code"):
            async with journal.watch(room):
                pass
    with pytest.raises(ValueError, match="second"):
        await journal.append(new_room(), draft(), header=None, ttl=0)
    with pytest.raises(ValueError, match="second"):
        await journal.touch({new_room(): Touch(-1, 0)})


async def test_ping_check_and_sweep_of_a_sound_store(journal: Journal) -> None:
    await journal.ping()
    await journal.sweep()
    assert await journal.check() == []


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(payloads=st.lists(st.binary(max_size=3000), min_size=1, max_size=5), header=st.binary())
async def test_any_bytes_come_back(journal: Journal, payloads: list[bytes], header: bytes) -> None:
    room, drafts = new_room(), chain(payloads)
    await store(journal, room, drafts, header=header)
    newest = drafts[-1]
    await journal.snapshot(room, Snapshot(newest.number, newest.id, payloads[0]))
    kept = await journal.latest_snapshot(room)
    assert [c.payload for c in await journal.read(room)] == payloads
    assert await journal.header(room) == header
    assert kept is not None
    assert kept.payload == payloads[0]


async def test_one_large_commit(journal: Journal) -> None:
    room, payload = new_room(), bytes(range(256)) * 4096
    await store(journal, room, [draft(payload=payload)])
    assert [c.payload for c in await journal.read(room)] == [payload]

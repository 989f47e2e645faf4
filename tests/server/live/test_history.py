"""History at a live table: pages, order, a store that fails, and a table that isn't held up."""

import asyncio

import pytest

from scopa_protocol import commands as c
from scopa_protocol.frames import Error, HistoryFrame, Joined, ServerFrame, Update
from scopa_protocol.history import HistoryDeal
from scopa_protocol.proof import commitment, faults
from scopa_server.journal.interface import Commit
from scopa_server.live import history
from scopa_server.room import history as fold
from scopa_server.stand_in.act import act
from support import recount
from support.house import Guest, House


async def played(house: House, deals: int, **rules: object) -> list[Guest]:
    """Two people after so many deals."""
    asked = {"variant": "scopa", "target": 101, **rules}
    guests = await house.table(settings={"watchers": "table"}, **asked)
    for number in range(1, deals + 1):
        if number > 1:
            await next_deal(guests)
        await play_out(guests)
    return guests


async def play_out(guests: list[Guest]) -> None:
    """Play the deal to its end."""
    while guests[0].view.phase == "playing":
        mover = guests[guests[0].view.to_play or 0]
        await mover.do(act(mover.view))


async def next_deal(guests: list[Guest]) -> None:
    """Everybody has seen the count."""
    for guest in guests:
        await guest.do(c.Ready(deal=guest.view.deal))


async def ask(guest: Guest, first: int | None = None, limit: int | None = None) -> HistoryFrame:
    """A page of history."""
    frames = await guest.do(c.History(id=7, from_deal=first, limit=limit))
    (frame,) = [frame for frame in frames if isinstance(frame, HistoryFrame)]
    assert frame.re == 7
    return frame


def phase(guest: Guest) -> str:
    """The phase that a guest sees."""
    return guest.view.phase


def numbers(deals: list[HistoryDeal]) -> list[int]:
    """Which deals these are."""
    return [deal.deal for deal in deals]


async def test_the_finished_deals_come_a_page_at_a_time() -> None:
    house = House()
    guests = await played(house, 12)
    first = await ask(guests[0])
    assert (numbers(first.deals), first.next) == (list(range(1, 11)), 11)
    rest = await ask(guests[0], first.next)
    assert (numbers(rest.deals), rest.next) == ([11, 12], None)
    some = await ask(guests[1], 3, 2)
    assert (numbers(some.deals), some.next) == ([3, 4], 5)
    assert (await ask(guests[0], 13)).deals == []
    deals = [*first.deals, *rest.deals]
    assert [fault for deal in deals for fault in faults(deal)] == []
    counted = [deal for deal in deals if not deal.void]
    running = recount.totals(guests[0].view.rules, counted)
    assert running[-1] == [side.score for side in guests[0].view.sides]


async def test_it_is_told_in_every_phase_to_everybody() -> None:
    house = House()
    host = await house.host(settings={"watchers": "table"}, variant="scopa", target=1)
    watcher = await house.enter(c.Watch(room=host.code, name="Ugo"))
    guest = await house.join(host.code, 1)
    everybody = [host, guest, watcher]
    assert [(await ask(one)).deals for one in everybody] == [[], [], []]
    await host.do(c.Start())
    expected: list[int] = []
    while True:
        phase = host.view.phase
        pages = [await ask(one) for one in everybody]
        assert pages[0] == pages[1] == pages[2]
        assert numbers(pages[0].deals) == expected
        if phase == "match_over":
            break
        if phase == "deal_over":
            await next_deal([host, guest])
        else:
            await play_out([host, guest])
            expected = list(range(1, host.view.deal + 1))
    assert pages[0].deals[-1].count == host.view.count


async def test_a_running_deal_is_not_in_it_and_was_committed_to() -> None:
    house = House()
    guests = await played(house, 1)
    before = guests[0].view.commitment
    await next_deal(guests)
    assert numbers((await ask(guests[1])).deals) == [1]
    await play_out(guests)
    told = (await ask(guests[1])).deals[-1]
    assert (told.deal, commitment(told.proof)) == (2, before)


async def test_asking_shows_nobody_anything_new_and_does_not_bring_a_person_back() -> None:
    house = House()
    guests = await played(house, 1)
    await guests[0].do(c.StandIn(seat=1))
    guests[0].read()
    seq = guests[0].view.seq
    await ask(guests[1])
    assert guests[0].read() == []
    assert guests[0].view.seq == seq
    assert guests[0].view.seats[1].stand_in


async def test_the_table_goes_on_while_a_log_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    guests = await played(house, 1)
    gate = asyncio.Event()
    read = house.journal.read

    async def slowly(room: str, after: int = 0) -> list[Commit]:
        await gate.wait()
        return await read(room, after)

    monkeypatch.setattr(house.journal, "read", slowly)
    await guests[0].do(c.History(id=1))
    await guests[0].do(c.History(id=2, limit=1))
    await guests[1].do(c.History(id=3))
    await next_deal(guests)
    mover = guests[guests[0].view.to_play or 0]
    await mover.do(act(mover.view))
    assert guests[0].view.turn == 2
    assert answers(guests[0]) == []
    gate.set()
    await house.quiet()
    assert answers(guests[0]) == [1, 2]
    assert answers(guests[1]) == [3]


def answers(guest: Guest) -> list[int | None]:
    """The requests that were answered, in order."""
    guest.read()
    return [frame.re for frame in guest.frames if isinstance(frame, HistoryFrame)]


async def test_who_leaves_is_answered_first(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    guests = await played(house, 1)
    gate = asyncio.Event()
    read = house.journal.read

    async def slowly(room: str, after: int = 0) -> list[Commit]:
        await gate.wait()
        return await read(room, after)

    monkeypatch.setattr(house.journal, "read", slowly)
    await guests[1].do(c.History(id=1))
    await guests[0].do(c.History(id=2))
    frames: list[ServerFrame] = [
        frame
        for frame in await guests[1].do(c.Leave(id=3))
        if isinstance(frame, Error | Update | HistoryFrame)
    ]
    assert isinstance(frames[0], Error)
    assert (frames[0].re, frames[0].code) == (1, "not_in_a_room")
    gate.set()
    await house.quiet()
    assert answers(guests[0]) == [2]
    assert answers(guests[1]) == []
    assert guests[0].visitor.asked == guests[1].visitor.asked == 0


async def test_a_store_that_is_down_says_so_and_later_all_is_told() -> None:
    house = House()
    guests = await played(house, 1)
    house.journal.down = True
    assert await guests[0].refused(c.History(id=1)) == "storage_unavailable"
    house.journal.down = False
    assert numbers((await ask(guests[0])).deals) == [1]


async def test_a_log_that_cannot_be_read_is_our_fault_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    guests = await played(house, 1)

    def fault(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(history, "read_events", fault)
        assert await guests[0].refused(c.History(id=1)) == "internal_error"
    assert numbers((await ask(guests[0])).deals) == [1]


async def test_a_store_that_forgot_is_believed() -> None:
    house = House()
    guests = await played(house, 2)
    assert numbers((await ask(guests[0])).deals) == [1, 2]
    log = house.journal.logs[guests[0].code]
    while len((await ask(guests[0])).deals) == 2:
        log.pop()
        await guests[0].do(c.Say(text="ciao"))
    assert guests[0].view.phase == "playing"
    assert numbers((await ask(guests[0])).deals) == [1]


async def test_deals_too_old_to_be_kept_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold, "LATEST", 2)
    house = House()
    guests = await played(house, 5)
    page = await ask(guests[0], 1, 3)
    assert (numbers(page.deals), page.next) == ([1, 2, 3], 4)
    assert (await ask(guests[0], 4)).deals == (await ask(guests[1], 1)).deals[3:]
    assert [fault for deal in page.deals for fault in faults(deal)] == []


async def test_only_what_is_new_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    guests = await played(house, 2)
    await ask(guests[0])
    asked: list[int] = []
    read = house.journal.read

    async def noted(room: str, after: int = 0) -> list[Commit]:
        asked.append(after)
        return await read(room, after)

    monkeypatch.setattr(house.journal, "read", noted)
    seq = guests[0].view.seq
    await ask(guests[0])
    await ask(guests[1], 2)
    assert asked == [seq, seq]


async def test_a_room_that_was_loaded_anew_tells_it_too() -> None:
    house = House()
    guests = await played(house, 2)
    before = await ask(guests[0])
    for guest in guests:
        await guest.drop()
    await house.pass_time(60)
    assert len(house.rooms) == 0
    again = await house.resume(guests[0].code, 1)
    assert (await ask(again)).deals == before.deals


async def test_rescoring_at_a_live_table_and_what_is_told_of_it() -> None:
    house = House()
    guests = await played(house, 2)
    await guests[0].do(c.Propose(rules={"scopa_value": "cards", "napola": "run"}))
    shown = guests[1].view
    assert shown.proposal is not None
    assert shown.clock is not None
    assert (shown.clock.kind, shown.clock.left_ms) == ("proposal", 60_000)
    await guests[1].do(c.Answer(proposal=shown.proposal.id, agree=True))
    view = guests[0].view
    assert view.rules.scopa_value == "cards"
    deals = (await ask(guests[0])).deals
    assert recount.totals(view.rules, deals)[-1] == [side.score for side in view.sides]
    assert [side.score for side in view.sides] == shown.proposal.totals
    assert view.clock is not None
    assert view.clock.kind == "next_deal"


async def test_a_proposal_that_nobody_answers_is_dropped_after_a_minute() -> None:
    house = House()
    guests = await played(house, 1)
    await house.pass_time(20)
    await guests[0].do(c.Propose(rules={"napola": "run"}))
    await house.pass_time(59)
    shown = guests[1].view.proposal
    assert shown is not None
    assert phase(guests[1]) == "deal_over"
    back = await house.resume(guests[1].code, 1)
    assert back.latest(Joined).view.proposal == shown
    await house.pass_time(2)
    assert guests[1].view.proposal is None
    clock = guests[1].view.clock
    assert clock is not None
    assert clock.kind == "next_deal"
    assert clock.left_ms > 25_000
    await house.pass_time(30)
    assert phase(guests[1]) == "playing"

"""A card that is followed at once, while the room's task sleeps; and all that may come between."""

import asyncio
import random
from typing import Any

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from scopa_protocol import commands as c
from scopa_protocol.frames import Error, Update
from scopa_server.bounds import Bounds
from scopa_server.journal.interface import Stored, Taken, Unresolved
from scopa_server.live.clerk import Clerk
from scopa_server.live.table import Table
from scopa_server.metrics import Limit
from scopa_server.room.decide.internal import Internal
from scopa_server.room.events import Events
from scopa_server.rules.cards import DECK
from support.growing import limited
from support.house import Guest, House, legal, on_turn


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> list[c.Command]:
    """The cards that were told of without the task."""
    followed: list[c.Command] = []
    finish = Clerk.finish

    def counted(self: Clerk, ask: object, begun: object) -> None:
        followed.append(ask.command)  # type: ignore[attr-defined]
        finish(self, ask, begun)  # type: ignore[arg-type]

    monkeypatch.setattr(Clerk, "finish", counted)
    return followed


async def held(house: House, guests: list[Guest]) -> tuple[Guest, c.Play]:
    """Somebody plays a card that the store keeps waiting."""
    mover = on_turn(guests)
    play = legal(mover, random.Random(1))
    for guest in guests:
        guest.read()
    house.journal.gate.clear()
    assert await mover.do(play) == []
    return mover, play


def faulty(*_: object, **__: object) -> None:
    """Fail as nobody expects."""
    raise ZeroDivisionError


def shown(guests: list[Guest]) -> set[int]:
    """The turns that people see."""
    return {guest.view.turn for guest in guests}


async def test_what_a_deal_is_made_of_is_followed_at_once(at_once: list[c.Command]) -> None:
    house, chance = House(), random.Random(1)
    guests = await house.table(settings={"next_deal_seconds": 0})
    for turn in range(1, 41):
        assert shown(guests) == {turn}
        await on_turn(guests).do(legal(on_turn(guests), chance))
    for guest in guests:
        await guest.do(c.Ready(deal=1))
    assert guests[0].view.deal == 2
    assert [type(command) for command in at_once] == [c.Play] * 40 + [c.Ready] * 4


async def test_a_first_card_is_kept_at_once(at_once: list[c.Command]) -> None:
    house = House()
    guests = await house.table(variant="chkobba")
    chooser = next(guest for guest in guests if guest.view.first_card is not None)
    keep = c.FirstCard(deal=1, keep=True)
    await chooser.do(keep)
    assert at_once == [keep]


async def test_cards_are_declared_at_once(at_once: list[c.Command]) -> None:
    for seed in range(40):
        guests = await House(seed=seed).table(variant="cirulla", target=101)
        offered = on_turn(guests).view.declarations
        if offered:
            kind, matta = offered[0].kind, offered[0].matta
            declare = c.Declare(deal=1, batch=1, kind=kind, matta=matta)  # type: ignore[arg-type]
            await on_turn(guests).do(declare)
            assert at_once == [declare]
            return
    raise AssertionError("nobody could declare")


async def test_a_table_s_moves_are_looked_at_once_and_refused_paid_by_none(
    at_once: list[c.Command], monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = list[c.Command | Internal]()
    decide = Table._decide

    def counted(self: Table, who: Any, command: Any, passcode: str | None = None) -> Events:
        decided.append(command)
        return decide(self, who, command, passcode)

    monkeypatch.setattr(Table, "_decide", counted)
    plain = await played_to_the_limit(wrong=False)
    assert at_once == plain
    assert [decided.count(play) for play in plain] == [1] * len(plain)
    assert len(await played_to_the_limit(wrong=True)) == len(plain)


async def played_to_the_limit(*, wrong: bool) -> list[c.Command]:
    """The cards that a table may play at once, which are few; `wrong`: and others between."""
    house, chance = House(bounds=Bounds(max_moves_per_minute=3)), random.Random(1)
    guests = await house.table()
    played = list[c.Command]()
    while True:
        guest = on_turn(guests)
        play = legal(guest, chance)
        if wrong:
            other = next(card for card in DECK if card not in (guest.view.hand or ()))
            await guest.do(replace(play, card=other))
            assert guest.latest(Error).code != "too_fast"
        await guest.do(play)
        if limited(house, Limit.MOVES):
            assert guest.latest(Error).code == "too_fast"
            assert limited(house, Limit.MOVES) == 1
            return played
        played.append(play)


async def test_who_comes_while_the_store_has_a_card_is_let_in_after_it(
    at_once: list[c.Command],
) -> None:
    house = House()
    guests = await house.table()
    _, play = await held(house, guests)
    coming = asyncio.create_task(house.resume(guests[0].code, 2))
    await house.quiet()
    assert not coming.done()
    house.journal.gate.set()
    newcomer = await coming
    assert newcomer.view.turn == 2
    assert at_once == [play]


async def test_commands_wait_their_turn_behind_a_card() -> None:
    house = House()
    guests = await house.table(settings={"talk": "always"})
    mover, play = await held(house, guests)
    assert await mover.do(play) == []
    assert await guests[0].do(c.Say(text="bella")) == []
    house.journal.gate.set()
    await house.quiet()
    told = [
        event.__struct_config__.tag
        for frame in guests[1].read()
        if isinstance(frame, Update)
        for event in frame.events
    ]
    assert told == ["played", "said"]
    assert shown(guests) == {2}


async def test_a_card_that_fails_comes_before_what_waits_behind_it() -> None:
    house = House()
    guests = await house.table(settings={"talk": "always"})
    mover, _ = await held(house, guests)
    assert await mover.do(c.Unseat(id=7, seat=0, name="Nobody")) == []
    house.journal.down = True
    house.journal.gate.set()
    await house.quiet()
    codes = [frame.code for frame in mover.read() if isinstance(frame, Error)]
    assert codes == ["storage_unavailable", "not_host"]


async def test_who_goes_meanwhile_has_played(at_once: list[c.Command]) -> None:
    house = House()
    guests = await house.table()
    mover, play = await held(house, guests)
    await mover.drop()
    house.journal.gate.set()
    await house.quiet()
    others = [guest for guest in guests if guest is not mover]
    assert shown(others) == {2}
    assert not others[0].view.seats[guests.index(mover)].online
    assert at_once == [play]


async def test_a_clock_that_runs_out_meanwhile_finds_another_turn() -> None:
    house = House()
    guests = await house.table(settings={"turn_seconds": 10})
    await held(house, guests)
    await house.pass_time(30)
    house.journal.gate.set()
    await house.quiet()
    assert shown(guests) == {2}
    assert not any(seat.stand_in for seat in guests[0].view.seats)
    await house.pass_time(11)
    assert guests[0].view.turn == 3


async def test_a_store_that_fails_is_asked_once(at_once: list[c.Command]) -> None:
    house = House()
    guests = await house.table()
    mover = on_turn(guests)
    play, before = legal(mover, random.Random(1)), house.journal.asked
    house.journal.down = True
    assert await mover.refused(play) == "storage_unavailable"
    assert (house.journal.asked - before, mover.view.turn, at_once) == (1, 1, [])
    house.journal.down = False
    await mover.do(play)
    assert shown(guests) == {2}


async def test_a_store_that_cannot_tell_sends_everybody_to_look_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    guests = await house.table()
    mover = on_turn(guests)

    async def unresolved(*_: object, **__: object) -> Stored | Taken:
        raise Unresolved("closed")

    monkeypatch.setattr(house.journal, "append", unresolved)
    with capture_logs() as logged:
        answers = await mover.do(legal(mover, random.Random(1)))
    assert [frame.code for frame in answers if isinstance(frame, Error)] == ["restarting"]
    assert {(entry["event"], entry.get("reason")) for entry in logged} >= {("room_lost", "closed")}
    assert all(guest.closing is not None and guest.closing.bye.retry for guest in guests)


async def test_a_race_that_is_lost_is_decided_again(at_once: list[c.Command]) -> None:
    here = House()
    guests = await here.table(settings={"talk": "always"})
    there = House(here.journal, seed=99)
    other = await there.resume(guests[0].code, 3)
    mover = on_turn(guests)
    play = legal(mover, random.Random(1))
    # Here it isn't known yet that somebody spoke there.
    await other.do(c.Say(text="ciao", key="1"))
    await mover.do(play)
    assert mover.view.turn == 2
    assert at_once == []
    assert len(here.journal.logs[mover.code]) == mover.view.seq


async def test_a_room_that_stops_tells_the_card_first(at_once: list[c.Command]) -> None:
    house = House()
    guests = await house.table()
    _, play = await held(house, guests)
    stopping = asyncio.create_task(house.rooms.stop())
    await house.quiet()
    assert not stopping.done()
    house.journal.gate.set()
    await stopping
    assert shown(guests) == {2}
    assert at_once == [play]
    assert [guest.visitor.asked for guest in guests] == [0] * 4


async def test_a_fault_in_telling_leaves_the_room_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    guests = await house.table()
    mover = on_turn(guests)

    with capture_logs() as logged, monkeypatch.context() as patch:
        patch.setattr("scopa_server.live.audience.Audience.show", faulty)
        await mover.do(legal(mover, random.Random(1)))
    assert [entry["event"] for entry in logged] == ["room_fault"]
    await mover.do(c.Pause())
    assert shown(guests) == {2}
    assert [guest.visitor.asked for guest in guests] == [0] * 4


async def test_a_fault_in_following_what_is_stored_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    guests = await house.table()
    mover = on_turn(guests)
    play = replace(legal(mover, random.Random(1)), id=7)

    with capture_logs() as logged, monkeypatch.context() as patch:
        patch.setattr("scopa_server.live.ledger.advance_telling", faulty)
        answers = await mover.do(play)
    assert "room_fault" in {entry["event"] for entry in logged}
    assert [(f.re, f.code) for f in answers if isinstance(f, Error)] == [(7, "internal_error")]
    await mover.do(c.Pause())
    assert shown(guests) == {2}
    assert [guest.visitor.asked for guest in guests] == [0] * 4


async def test_a_room_that_fails_after_a_card_sends_everybody_to_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    guests = await house.table()
    mover = on_turn(guests)

    with capture_logs() as logged, monkeypatch.context() as patch:
        # Not in a step, which would be survived: in what is looked at after each card.
        patch.setattr("scopa_server.live.clocks.Clocks.next_at", faulty)
        await mover.do(legal(mover, random.Random(1)))
    assert {entry["event"] for entry in logged} == {"room_fault"}
    assert all(guest.closing is not None and guest.closing.bye.retry for guest in guests)
    again = await house.resume(mover.code, 0)
    assert again.view.turn == 2

"""First cards and declarations at a live table: clocks, stand-ins, bots, people."""

import pytest

from scopa_protocol import commands as c
from scopa_protocol.events import Declared, FirstCardKept, FirstCardOffered, OpeningSwept, Played
from scopa_protocol.frames import Update
from scopa_server.rules.presets import PRESETS
from support.house import Guest, House


def heard(guest: Guest, *kinds: type) -> list[object]:
    """Every event of these kinds that a guest was told."""
    guest.read()
    updates = [frame for frame in guest.frames if isinstance(frame, Update)]
    return [event for update in updates for event in update.events if isinstance(event, kinds)]


def asked(guests: list[Guest]) -> Guest:
    """Who must keep or refuse the first card."""
    return next(guest for guest in guests if guest.view.first_card is not None)


async def test_a_first_card_is_offered_and_kept() -> None:
    house = House()
    guests = await house.table(variant="chkobba")
    chooser = asked(guests)
    offers = heard(guests[0], FirstCardOffered)
    assert [offer.seat for offer in offers if isinstance(offer, FirstCardOffered)] == [
        chooser.view.you
    ]
    card = chooser.view.first_card
    await chooser.do(c.FirstCard(deal=1, keep=True))
    assert chooser.view.first_card is None
    assert card in (chooser.view.hand or [])
    assert chooser.view.to_play == chooser.view.you


async def test_a_turn_s_time_runs_for_who_is_asked() -> None:
    house = House()
    guests = await house.table(variant="chkobba", settings={"turn_seconds": 20, "pace_ms": 0})
    chooser = asked(guests)
    clock = chooser.view.clock
    assert clock is not None
    assert (clock.kind, clock.left_ms) == ("turn", 20_000)
    await house.pass_time(19)
    assert chooser.view.batch == 0
    await house.pass_time(2)
    assert heard(guests[0], FirstCardKept) == [FirstCardKept(seat=chooser.view.you or 0)]


async def test_an_absent_person_s_first_card_is_kept() -> None:
    house = House()
    guests = await house.table(variant="chkobba", settings={"absent_seconds": 15})
    chooser = asked(guests)
    seat = chooser.view.you or 0
    witness = guests[1 - seat]
    await chooser.drop()
    await house.pass_time(14)
    assert witness.view.batch == 0
    await house.pass_time(3)
    assert heard(witness, FirstCardKept) == [FirstCardKept(seat=seat)]
    assert witness.view.seats[seat].stand_in


async def test_a_bot_keeps_and_plays() -> None:
    house = House()
    host = await house.host(variant="chkobba", settings={"pace_ms": 1000})
    await host.do(c.SeatBot(seat=1))
    await host.do(c.Start())
    if host.view.first_card is not None:
        await host.do(c.FirstCard(deal=1, keep=False))
        return
    assert heard(host, FirstCardKept) == []
    await house.pass_time(1)
    assert heard(host, FirstCardKept) == [FirstCardKept(seat=1)]
    await house.pass_time(1)
    assert len(heard(host, Played)) == 1


async def test_a_stand_in_declares_before_its_first_card() -> None:
    for seed in range(40):
        house = House(seed=seed)
        guests = await house.table(
            variant="cirulla", settings={"turn_seconds": 20, "pace_ms": 1000}, target=101
        )
        first = next(guest for guest in guests if guest.view.to_play == guest.view.you)
        if not first.view.declarations:
            continue
        best = max(offered.points for offered in first.view.declarations)
        await house.pass_time(20)
        told = heard(guests[0], Declared, Played)
        assert isinstance(told[0], Declared)
        assert (told[0].seat, told[0].points) == (first.view.you, best)
        # It thinks again before it plays.
        assert len(told) == 1
        await house.pass_time(1)
        assert isinstance(heard(guests[0], Declared, Played)[1], Played)
        return
    raise AssertionError("nobody could declare")


@pytest.mark.parametrize("variant", PRESETS)
async def test_people_who_do_nothing_see_any_preset_to_its_end(variant: str) -> None:
    house = House(seed=len(variant))
    settings = {"turn_seconds": 5, "pace_ms": 0, "next_deal_seconds": 5}
    guests = await house.table(variant=variant, settings=settings, target=1)
    for _ in range(120):
        if guests[0].view.phase == "match_over":
            break
        await house.pass_time(5)
    assert guests[0].view.phase == "match_over"
    assert guests[0].view.winner is not None


async def test_bots_declare_and_sweep_openings() -> None:
    house = House(seed=3)
    host = await house.host(variant="cirulla", settings={"pace_ms": 0}, players=4, target=101)
    for seat in (1, 2, 3):
        await host.do(c.SeatBot(seat=seat))
    await host.do(c.Start())
    for _ in range(600):
        if heard(host, Declared) and heard(host, OpeningSwept):
            break
        if host.view.phase == "deal_over":
            await host.do(c.Ready(deal=host.view.deal))
        elif host.view.phase == "match_over":
            await host.do(c.Start())
        else:
            await host.do(c.StandIn(seat=0))
            await house.pass_time(1)
    assert heard(host, Declared)
    assert heard(host, OpeningSwept)

"""The phases as a table, and an exit from every state when nobody does anything."""

import random
from collections.abc import Callable
from typing import Any, Final, get_args

import pytest

from scopa_protocol import commands as c
from scopa_protocol.views import Phase
from scopa_server.room import events as e
from scopa_server.room.apply import apply
from scopa_server.room.clock import deadlines, decision, served_seat
from scopa_server.room.decide import Expired, Settle
from scopa_server.room.machine import TRANSITIONS, WITHIN, ImpossibleEvent, phase_after
from support.tables import Table

PHASES: Final[tuple[Phase, ...]] = get_args(Phase)
KINDS: Final[tuple[type[e.Event], ...]] = get_args(e.LogEvent)


def test_every_phase_is_in_the_table_and_can_be_left() -> None:
    assert set(TRANSITIONS) == set(WITHIN) == set(PHASES)
    for phase in PHASES:
        assert set(TRANSITIONS[phase].values()) - {phase}
        assert not set(TRANSITIONS[phase]) & set(WITHIN[phase])


def test_every_phase_is_reached_from_the_lobby() -> None:
    reached: set[Phase] = {"lobby"}
    for _ in PHASES:
        reached |= {after for phase in reached for after in TRANSITIONS[phase].values()}
    assert reached == set(PHASES)


def test_every_event_has_its_phases() -> None:
    for kind in KINDS:
        assert any(kind in TRANSITIONS[phase] or kind in WITHIN[phase] for phase in PHASES)


def test_an_event_out_of_its_phase_is_impossible() -> None:
    room = Table().room
    for event in (e.Paused(seat=0), e.MatchEnded(), e.Dealt(deal=1, batch=1, dealer=0)):
        with pytest.raises(ImpossibleEvent, match="in lobby"):
            phase_after("lobby", event)
    with pytest.raises(ImpossibleEvent):
        apply(room, e.Readied(seat=0, deal=1), 0)


# What the server does by itself: `tick` lets it do the next thing, as a live room would.


def tick(table: Table, chance: random.Random) -> bool:
    """Let the first clock run out, or the server play its seat; False: it waits for a person."""
    room = table.room
    served = served_seat(room)
    if served is not None:
        table.play(chance, auto=True)
        return True
    for clock in deadlines(room, table.online):
        assert table.do(None, Expired(clock.kind, decision(room)))
        return True
    return bool(table.do(None, Settle()))


def run(table: Table, phases: set[str], limit: int = 2000) -> bool:
    """Let the server go on until one of these phases; False: it waits for somebody."""
    chance = random.Random(1)
    for _ in range(limit):
        if table.room.phase in phases:
            return True
        if not tick(table, chance):
            return False
    raise AssertionError("the server goes on for ever")


def _nothing(table: Table) -> None:
    """Everybody is there and does nothing."""


def _absent(table: Table) -> None:
    for seat in sorted(table.online):
        table.online -= {seat}
        table.gone(seat)


def _host_absent(table: Table) -> None:
    table.online -= {0}
    table.gone(0)


def _one_left(table: Table) -> None:
    table.do(1, c.Leave())
    table.online -= {1}


def _all_left(table: Table) -> None:
    for seat in sorted(table.online):
        table.do(seat, c.Leave())
    table.online = frozenset()


def _newcomer(table: Table) -> None:
    _one_left(table)
    table.do(None, c.Join(room="TESTROOM", name="Nina", token="n" * 22))
    table.online |= {1}


def _only_newcomer(table: Table) -> None:
    _all_left(table)
    table.do(None, c.Join(room="TESTROOM", name="Nina", seat=1, token="n" * 22))
    table.online |= {1}


def _all_served(table: Table) -> None:
    for seat in range(2):
        table.do(0, c.StandIn(seat=seat))


def _proposal(table: Table) -> None:
    if table.room.phase == "deal_over":
        table.do(1, c.Propose(rules={"napola": "run"}))


def _proposal_to_nobody(table: Table) -> None:
    _proposal(table)
    _host_absent(table)


WAYS: Final[list[Callable[[Table], None]]] = [
    _nothing,
    _absent,
    _host_absent,
    _one_left,
    _all_left,
    _newcomer,
    _only_newcomer,
    _all_served,
    _proposal,
    _proposal_to_nobody,
]
TIMED: Final[dict[str, Any]] = {"turn_seconds": 5, "absent_seconds": 1, "next_deal_seconds": 1}
UNTIMED: Final[dict[str, Any]] = {"turn_seconds": 0, "absent_seconds": 0, "next_deal_seconds": 0}


def _begun(phase: str, settings: dict[str, Any]) -> Table:
    target = 12 if phase == "deal_over" else 1
    table = Table(seed=3, variant="scopa", target=target).set(**settings)
    if phase != "lobby":
        table.start()
    if phase == "deal_over":
        table.deal_out(random.Random(1))
    if phase == "match_over":
        table.do(0, c.EndMatch())
    assert table.room.phase == phase
    return table


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("phase", ["playing", "deal_over"])
def test_with_clocks_a_match_ends_by_itself(phase: str, way: Callable[[Table], None]) -> None:
    table = _begun(phase, TIMED)
    way(table)
    assert run(table, {"match_over"})


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("phase", ["playing", "deal_over"])
def test_without_clocks_a_person_who_is_there_is_the_exit(
    phase: str, way: Callable[[Table], None]
) -> None:
    table = _begun(phase, UNTIMED)
    way(table)
    chance = random.Random(2)
    for _ in range(2000):
        if run(table, {"match_over"}):
            return
        # The server waits for a person: for one who is there, or for any to come back.
        _somebody_acts(table, chance)
    raise AssertionError("nobody can get the room on")


def _somebody_acts(table: Table, chance: random.Random) -> None:
    """The person whom the table waits for acts; where it is absent, the host, or who claims."""
    room = table.room
    if not table.online:
        _comes(table)
        return
    if room.phase == "deal_over":
        seat = next(s for s in sorted(table.online) if not room.seats[s].ready)
        assert table.do(seat, c.Ready(deal=room.deal_number))
        return
    to_play = room.to_play
    assert to_play is not None
    if to_play in table.online:
        assert table.play(chance)
        return
    if room.host not in table.online:
        _claim(table)
    assert table.do(table.room.host, c.StandIn(seat=to_play))


def _comes(table: Table) -> None:
    """Somebody comes back, or where all have left somebody new joins."""
    room = table.room
    seat = next((number for number, there in enumerate(room.seats) if there.holder), None)
    if seat is None:
        table.do(None, c.Join(room="TESTROOM", name="Nina", seat=0, token="n" * 22))
        seat = 0
    table.online |= {seat}


def _claim(table: Table) -> None:
    host = table.room.host
    assert host is not None
    table.offline_ms = {host: 300_000}
    seat = min(table.online)
    holder = table.room.seats[seat].holder
    assert holder is not None
    assert table.do(seat, c.MakeHost(seat=seat, name=holder.name))


@pytest.mark.parametrize("settings", [TIMED, UNTIMED])
@pytest.mark.parametrize("phase", ["playing", "deal_over"])
def test_a_pause_stops_the_clocks_and_anybody_ends_it(phase: str, settings: dict[str, Any]) -> None:
    for ends in (_unpauses, _pauser_leaves, _host_ends):
        table = _begun(phase, settings)
        table.do(1, c.Pause())
        _absent(table)
        assert not tick(table, random.Random(1))
        assert not deadlines(table.room, table.online)
        ends(table)
        assert table.room.paused_by is None


def _unpauses(table: Table) -> None:
    table.do(0, c.Unpause())


def _pauser_leaves(table: Table) -> None:
    table.do(1, c.Leave())


def _host_ends(table: Table) -> None:
    table.do(0, c.EndMatch())
    assert table.room.phase == "match_over"


@pytest.mark.parametrize("phase", ["playing", "deal_over"])
def test_a_pause_ends_when_the_last_person_leaves(phase: str) -> None:
    table = _begun(phase, TIMED)
    table.do(1, c.Pause())
    _all_left(table)
    assert run(table, {"match_over"})


@pytest.mark.parametrize("phase", ["lobby", "match_over"])
def test_between_matches_whoever_comes_can_start(phase: str) -> None:
    for way in (_nothing, _absent, _all_left, _host_absent):
        table = _begun(phase, TIMED)
        if phase == "lobby":
            table.join(1)
        way(table)
        if not table.online:
            _comes(table)
        if table.room.host not in table.online:
            _claim(table)
        host = table.room.host
        for seat, there in enumerate(table.room.seats):
            if there.kind == "empty":
                table.do(host, c.SeatBot(seat=seat))
        table.do(host, c.Start())
        assert table.room.phase == "playing"

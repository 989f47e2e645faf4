"""A timer that comes after the decision it was for changes nothing: every kind, whatever passed."""

import contextlib
import random
from collections.abc import Callable

import pytest

from scopa_protocol import commands as c
from scopa_protocol.views import ClockKind
from scopa_server.room.clock import deadlines, decision
from scopa_server.room.decide import Expired, GoneAway
from scopa_server.room.decide.internal import Internal
from scopa_server.room.refused import Refused
from support.tables import Table, nina

Passing = Callable[[Table], object]


def match() -> Table:
    """Four people, with every clock on."""
    clocks = {"turn_seconds": 5, "absent_seconds": 5, "next_deal_seconds": 5}
    return Table(seed=4, variant="scopa", players=4, sides=4, target=50).set(**clocks).start()


def seat(table: Table) -> int:
    """Whose card is awaited."""
    awaited = table.room.awaited
    assert awaited is not None
    return awaited


def played(table: Table) -> None:
    """The awaited card is played."""
    table.play(random.Random(1))


def paused(table: Table) -> None:
    table.do((seat(table) + 1) % 4 if table.room.awaited is not None else 1, c.Pause())


def paused_and_on(table: Table) -> None:
    """A pause has come and gone: another clock runs."""
    paused(table)
    table.do(2, c.Unpause())


def ended(table: Table) -> None:
    table.do(table.room.host, c.EndMatch())


def unlimited(table: Table) -> None:
    table.set(turn_seconds=0, absent_seconds=0, next_deal_seconds=0)


def other_limits(table: Table) -> None:
    """A clock was begun anew."""
    table.set(turn_seconds=6, absent_seconds=6, next_deal_seconds=6)


def left(table: Table) -> None:
    table.do(seat(table), c.Leave())


def stood_in(table: Table) -> None:
    table.do(table.room.host, c.StandIn(seat=seat(table)))


def stood_in_and_back(table: Table) -> None:
    awaited = seat(table)
    stood_in(table)
    table.back(awaited)


def online(table: Table) -> None:
    table.online = frozenset(range(4))


def next_dealt(table: Table) -> None:
    table.all_ready()


def proposed(table: Table) -> None:
    table.do(0, c.Propose(rules={"target": 60}))


def agreed(table: Table) -> None:
    for number in (1, 2, 3):
        table.do(number, c.Answer(proposal=1, agree=True))


def declined(table: Table) -> None:
    table.do(1, c.Answer(proposal=1, agree=False))


def proposed_anew(table: Table) -> None:
    """The proposal was declined, and another is open."""
    declined(table)
    table.do(1, c.Propose(rules={"target": 40}))


def somebody_left(table: Table) -> None:
    table.do(2, c.Leave())


AFTER: dict[ClockKind, list[Passing]] = {
    "turn": [
        played,
        paused,
        paused_and_on,
        ended,
        unlimited,
        other_limits,
        left,
        stood_in,
        stood_in_and_back,
    ],
    "absent": [
        online,
        paused,
        paused_and_on,
        ended,
        unlimited,
        other_limits,
        left,
        stood_in,
        stood_in_and_back,
    ],
    "next_deal": [next_dealt, paused, paused_and_on, ended, unlimited, other_limits, proposed],
    "proposal": [agreed, declined, proposed_anew, somebody_left, paused, paused_and_on, ended],
}


def running(kind: ClockKind) -> Table:
    """A table where that clock runs."""
    table = match()
    if kind == "absent":
        table.online -= {seat(table)}
    if kind in {"next_deal", "proposal"}:
        table.deal_out(random.Random(1))
    if kind == "proposal":
        proposed(table)
    assert kind in {clock.kind for clock in deadlines(table.room, table.online)}
    return table


def changes_nothing(table: Table, late: Internal) -> None:
    """Nothing is decided, so nothing is stored."""
    before = table.room
    assert table.do(None, late) == ()
    assert table.room is before


@pytest.mark.parametrize(
    ("kind", "passing"), [(kind, passing) for kind, all_ in AFTER.items() for passing in all_]
)
def test_a_clock_that_ran_for_something_past(kind: ClockKind, passing: Passing) -> None:
    table = running(kind)
    late = Expired(kind, decision(table.room))
    passing(table)
    changes_nothing(table, late)


@pytest.mark.parametrize("kind", list(AFTER))
def test_a_clock_that_ran_out_twice(kind: ClockKind) -> None:
    table = running(kind)
    due = Expired(kind, decision(table.room))
    assert table.do(None, due)
    changes_nothing(table, due)


def away_already(table: Table) -> None:
    table.gone(1)


def back_online(table: Table) -> None:
    table.online |= {1}


def gave_up(table: Table) -> None:
    table.do(1, c.Leave())


def somebody_else_came(table: Table) -> None:
    """The seat has a new person, whose process has not been heard of yet."""
    table.do(1, c.Leave())
    table.do(None, nina(1))


def moved(table: Table) -> None:
    """Another person sits there now, and the one that was missed is here, elsewhere."""
    table.do(0, c.Arrange(names=["Anna", "Carla", "Bruno", "Dario"]))
    table.online = frozenset({0, 2, 3})


@pytest.mark.parametrize("passing", [away_already, back_online, gave_up, somebody_else_came, moved])
def test_an_absence_of_somebody_who_is_no_longer_missed(passing: Passing) -> None:
    table = match() if passing is not moved else Table(variant="scopa", players=4).fill()
    table.online -= {1}
    late = GoneAway(table.room.seats[1].token or "")
    passing(table)
    changes_nothing(table, late)


def person_back(table: Table) -> None:
    table.back(seat(table))


def played_for(table: Table) -> None:
    """Another process was faster, with the same card or another."""
    table.play(random.Random(2), auto=True)


@pytest.mark.parametrize("passing", [person_back, played_for, paused, ended])
@pytest.mark.parametrize("seed", range(4))
def test_a_card_that_the_server_chose_too_late(passing: Passing, seed: int) -> None:
    table = match()
    served = seat(table)
    stood_in(table)
    late = table.legal(random.Random(seed))
    passing(table)
    before = table.room
    with contextlib.suppress(Refused):
        assert table.do(served, late, auto=True) == ()
    assert table.room is before

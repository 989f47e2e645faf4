"""What is ahead of a room is kept while nothing it hangs on changes, and is never out of date."""

import random

from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from scopa_server.live.clocks import Clocks
from scopa_server.room.refused import Refused
from scopa_server.room.state import Room
from support.tables import Table
from support.wander import some_table, stir


class StillTime:
    """A clock that stands still until it is moved."""

    moment = 1000.0

    def now(self) -> float:
        """Seconds."""
        return self.moment

    def call_at(self, when: float, callback: object) -> object:
        """Nothing is arranged here."""
        raise AssertionError("nothing is to be arranged here")


def afresh(room: Room) -> Room:
    """The same room, in which nothing is recognised as what was seen before."""
    return replace(room, seats=tuple(map(replace, room.seats)), settings=replace(room.settings))


def asked(clocks: Clocks, room: Room, online: frozenset[int]) -> tuple[object, ...]:
    """Everything that clocks say of a room."""
    return (
        clocks.next_at(room, online),
        clocks.due(room, online),
        clocks.shown(room, online),
        clocks.run(room, online),
        clocks.mark(room),
    )


def go_on(table: Table, chance: random.Random) -> None:
    """A card most of the time, or anything else."""
    online = table.online
    try:
        if table.room.to_play is not None and chance.random() < 0.7:
            table.play(chance, auto=table.room.seats[table.room.to_play].served)
        else:
            stir(table, chance)
    except Refused:
        pass
    if chance.random() < 0.8:
        table.online = online & frozenset(range(len(table.room.seats)))


def disturb(table: Table, both: tuple[Clocks, Clocks], chance: random.Random) -> None:
    """People come and go, settings change, other processes are heard of, more time has run."""
    everybody = frozenset(range(len(table.room.seats)))
    roll = chance.random()
    if roll < 0.4:
        table.online = everybody
    elif roll < 0.6 and table.online:
        seat = chance.choice(sorted(table.online))
        table.online -= {seat}
        for clocks in both:
            clocks.went(table.room.seats[seat].held_by or "")
    elif roll < 0.7 and table.host() is not None:
        table.set(turn_seconds=chance.choice([0, 0, 5]))
    elif roll < 0.85:
        rank = chance.randrange(3)
        for clocks in both:
            clocks.rank = rank
    else:
        for clocks in both:
            clocks.add(500)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), quiet=st.booleans())
@example(seed=9870, quiet=False)  # everybody leaves
def test_what_is_ahead_is_what_it_would_be_worked_out_from_nothing(seed: int, quiet: bool) -> None:
    chance, time, table = random.Random(seed), StillTime(), some_table(seed)
    table.fill().start()
    if quiet:
        table.set(turn_seconds=0)
    kept, anew = both = Clocks(time, table.room, None), Clocks(time, table.room, None)  # type: ignore[arg-type]
    for _ in range(60):
        if chance.random() < 0.8:
            go_on(table, chance)
        else:
            disturb(table, both, chance)
        time.moment += chance.choice([0, 0.5, 3, 20])
        room, anyone = table.room, chance.random() < 0.9
        kept.note(room, anyone=anyone)
        anew.note(afresh(room), anyone=anyone)
        for _ in range(2):
            assert asked(kept, room, table.online) == asked(anew, afresh(room), table.online)

"""Whatever people do in whatever order: the room stays whole and can be read back."""

import pytest

from scopa_protocol import commands as c
from scopa_protocol.codec import CODECS
from scopa_protocol.frames import Update
from scopa_server.room.apply import advance
from scopa_server.room.decide import Actor, decide
from scopa_server.room.events import read_events
from scopa_server.room.project import Scene, project
from scopa_server.room.state import Room
from scopa_server.room.stored import dump, header, load, read_header
from support.tables import Table, heard
from support.wander import is_auto, some_table, wander

SEEDS = range(12)
STEPS = 500


def _whole(room: Room) -> None:
    """What is true of a room whatever happened."""
    assert len(room.seats) == room.rules.players
    people = [number for number, seat in enumerate(room.seats) if seat.holder]
    assert room.host in people if people else room.host is None
    tokens = [seat.holder.token for seat in room.seats if seat.holder]
    assert len(set(tokens)) == len(tokens)
    names = [
        name for seat in room.seats for name in (seat.name, seat.reserved and seat.reserved.name)
    ]
    shown = [name for name in names if name]
    assert len(set(shown)) == len(shown)
    for seat in room.seats:
        assert (seat.name is None) == (seat.kind in {"empty", "vacant"})
        assert (seat.token is not None) == (seat.kind == "person")
        assert seat.reserved is None or (room.in_match and seat.kind in {"bot", "vacant"})
        assert seat.holder is not None or not (seat.away or seat.ready or seat.stand_in)
        assert room.in_match or seat.kind != "vacant"
        assert not room.in_match or seat.kind != "empty"
    if room.paused_by is not None:
        assert room.in_match
        assert room.paused_by in people
    assert (room.phase == "deal_over") == (room.next_shuffle is not None)
    assert room.phase != "playing" or (room.deal is not None and room.awaited is not None)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_room_stays_whole(seed: int) -> None:
    table = some_table(seed)
    if seed % 2:
        table.fill()
    phases: set[str] = set()
    for before, _, _, events in wander(table, seed, STEPS):
        phases.add(table.room.phase)
        _whole(table.room)
        if not events:
            continue
        told = [item for _, item in heard(before, events, table.room.at) if item is not None]
        for viewer in (None, *range(len(table.room.seats))):
            view = table.view(viewer)
            for codec in CODECS.values():
                update = Update(seq=view.seq, events=told, view=view)
                assert codec.decode_frame(codec.encode(update)) == update
    assert "playing" in phases


@pytest.mark.parametrize("seed", SEEDS)
def test_a_snapshot_is_the_fold_of_its_log(seed: int) -> None:
    table = some_table(seed)
    if seed % 2:
        table.fill()
    for _ in wander(table, seed, STEPS):
        assert load(dump(table.room)) == table.room
        kept = read_header(header(table.room))
        assert kept.started == (table.room.match > 0)
        assert set(kept.tokens) == {s.holder.token for s in table.room.seats if s.holder}
    room = Room(code="TESTROOM")
    for number, (at, payload) in enumerate(table.log, start=1):
        # From every snapshot on, the rest of the log leads to the same room.
        room = load(dump(advance(room, number, at, read_events(payload))))
    assert room == table.room


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_again_changes_nothing(seed: int) -> None:
    table = some_table(seed)
    if seed % 2:
        table.fill()
    for before, seat, command, _ in wander(table, seed, STEPS):
        if isinstance(command, c.Say) and command.key is None:
            continue
        # Who joined or sat down acts from the new seat then.
        token = None if seat is None else before.seats[seat].holder
        moved = table.room.seat_of(token.token) if token else seat
        auto = is_auto(before, seat, command)
        again = moved if moved is not None or isinstance(command, c.Leave) else seat
        actor = Actor(again, name="Ugo", auto=auto)
        assert decide(table.room, actor, command, table.context) == (), repr(command)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_room_read_back_shows_everybody_the_same(seed: int) -> None:
    game = {"variant": "scopone"} if seed % 2 else {"variant": "cirulla", "players": 4}
    table = Table(seed=seed, target=2, **game)
    for _ in wander(table, seed, STEPS // 2):
        again = load(dump(table.room))
        scene = Scene(log="log", online=table.online)
        for viewer in (None, *range(len(again.seats))):
            assert project(again, viewer, scene) == project(table.room, viewer, scene)

"""A room is its log: read back from any point."""

import json
import os
import random
from typing import Any

import msgspec
import pytest

from scopa_server.room.apply import advance
from scopa_server.room.events import SCHEMA, UnreadableLog, read_events, write_events
from scopa_server.room.state import Room
from scopa_server.room.stored import dump, load, read_header
from support.tables import Table

MATCHES = int(os.environ.get("SCOPA_MATCHES_READ_BACK", "1000"))
GAMES: list[dict[str, Any]] = [
    *({"variant": "scopa", "players": players} for players in range(2, 7)),
    {"variant": "scopone"},
    {"variant": "scopone_scientifico"},
]


def fold(log: list[tuple[int, bytes]]) -> Room:
    """The room that a log adds up to."""
    room = Room(code="TESTROOM")
    for number, (at, payload) in enumerate(log, start=1):
        room = advance(room, number, at, read_events(payload))
    return room


@pytest.mark.parametrize("bundle", range(4))
def test_every_state_of_random_matches_can_be_read_back(bundle: int) -> None:
    for seed in range(bundle, MATCHES, 4):
        chance = random.Random(seed)
        table = Table(seed=seed, target=chance.choice([1, 1, 1, 3]), **GAMES[seed % len(GAMES)])
        table.start()
        while table.room.phase != "match_over":
            table.step(chance)
            again = load(dump(table.room))
            assert again == table.room
            # And play goes on from what was read.
            table.room = again
        assert fold(table.log) == table.room
        assert table.room.winner is not None
        assert table.room.totals[table.room.winner] == max(table.room.totals)


@pytest.mark.parametrize("logged", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_who_resumes_sees_what_they_would_have_seen(seed: int, logged: bool) -> None:
    dropped, stayed = (Table(seed=seed, variant="scopa", target=3).start() for _ in range(2))
    chances = random.Random(seed), random.Random(seed)
    drop = random.Random(-seed)
    while stayed.room.phase != "match_over":
        dropped.step(chances[0])
        stayed.step(chances[1])
        if drop.random() < 0.2:
            _drop(dropped, drop.randrange(2), logged=logged)
        if not logged:
            assert dropped.view(0) == stayed.view(0)
        assert _but_seq(dropped, 1) == _but_seq(stayed, 1)


def _drop(table: Table, seat: int, *, logged: bool) -> None:
    """The seat loses its connections; the server restarts; the seat comes back."""
    there = table.online
    table.online -= {seat}
    if logged:
        table.gone(seat)
    table.room = load(dump(fold(table.log)))
    table.online = there
    table.back(seat)


def _but_seq(table: Table, seat: int) -> dict[str, Any]:
    return {**msgspec.to_builtins(table.view(seat)), "seq": 0}


def test_a_snapshot_from_before_proposals_is_read() -> None:
    kept = json.loads(dump(Table().room))
    del kept["room"]["proposal"]
    assert load(json.dumps(kept).encode()).proposal is None


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"v":2,"events":[]}',
        b'{"v":1,"events":[{"type":"rained"}]}',
        b'{"v":1,"events":[{"type":"paused"}]}',
        b'{"v":1,"events":[{"type":"paused","seat":"one"}]}',
        b'{"v":1,"events":' + b"[" * 5000,
    ],
)
def test_what_this_release_does_not_know_is_unreadable(payload: bytes) -> None:
    for read in (read_events, load, read_header):
        with pytest.raises(UnreadableLog):
            read(payload)


def test_a_later_snapshot_is_unreadable() -> None:
    kept = dump(Table().room)
    assert kept.startswith(b'{"v":1,')
    with pytest.raises(UnreadableLog):
        load(kept.replace(b'{"v":1,', b'{"v":2,', 1))


def test_a_page_is_written_with_its_schema() -> None:
    assert json.loads(write_events(())) == {"v": SCHEMA, "events": []}

"""Many appends at once do what they would do one after the other."""

import random
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from scopa_server.journal.interface import Draft, Stored
from scopa_server.journal.sqlite_file import connect, prepare
from scopa_server.journal.sqlite_rows import Append, Change, delete, make_all, read

ROOMS = [f"ROOM{number:04}" for number in range(60)]
Top = tuple[int, str]


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[list[sqlite3.Connection]]:
    """Two stores, both empty."""
    paths = [tmp_path / "one.db", tmp_path / "other.db"]
    locks = [prepare(path) for path in paths]
    stores = [connect(path) for path in paths]
    yield stores
    for store in stores:
        store.close()
    for lock in locks:
        lock.release()


def drafted(chance: random.Random, tops: dict[str, Top]) -> Append:
    """An append to some room: mostly the next commit, else one that is old, forked or early."""
    room = chance.choice(ROOMS)
    number, previous = tops.get(room, (0, ""))
    draft = Draft(number + 1, f"{chance.getrandbits(32):08x}", previous, chance.randbytes(20))
    kind = chance.random()
    if kind < 0.1 and number:
        draft = Draft(draft.number, draft.id, "beside", draft.payload)
    elif kind < 0.2:
        draft = Draft(draft.number + 1, draft.id, previous or "early", draft.payload)
    elif kind < 0.3 and number > 1:
        draft = Draft(number, chance.choice([previous, "other"]), "before", draft.payload)
    else:
        tops[room] = draft.number, draft.id
    header = chance.choice([None, b"header"])
    return Append(room, draft, header if number else b"first", chance.choice([1, 1000]))


@pytest.mark.parametrize("seed", range(8))
def test_together_or_alone_it_comes_to_the_same(
    stores: list[sqlite3.Connection], seed: int
) -> None:
    chance, tops, now = random.Random(seed), dict[str, Top](), 1_000_000
    stored = refused = 0
    for _ in range(40):
        now += chance.choice([1, 1, 5_000])
        # What is drafted here is what a room would send: some rooms have expired by then.
        batch: list[Change] = [drafted(chance, tops) for _ in range(chance.randrange(1, 120))]
        if chance.random() < 0.3:
            batch.insert(len(batch) // 2, partial(delete, room=chance.choice(ROOMS)))
        together = make_all(stores[0], now, batch)
        alone = [change(stores[1], now) for change in batch]
        assert together == alone
        for result in filter(None, together):
            stored += isinstance(result[0], Stored)
            refused += not isinstance(result[0], Stored)
        for room in ROOMS:
            assert read(stores[0], now, room, 0) == read(stores[1], now, room, 0)
    rows = [store.execute("SELECT * FROM rooms ORDER BY room").fetchall() for store in stores]
    assert rows[0] == rows[1]
    assert stored > 100
    assert refused > 100

"""A whole match through decide, apply and project."""

import random

import pytest

from support.tables import Table


@pytest.mark.parametrize("variant", ["scopa", "scopone", "scopone_scientifico"])
def test_a_match_is_played_to_its_end(variant: str) -> None:
    table = Table(seed=1, variant=variant, target=11).start()
    chance = random.Random(2)
    while table.room.phase != "match_over":
        table.step(chance)
        for seat in [None, *range(len(table.room.seats))]:
            table.view(seat)
    assert table.room.winner is not None
    assert table.room.totals[table.room.winner] == max(table.room.totals) >= 11
    assert table.room.count is not None
    assert table.room.count.totals == list(table.room.totals)

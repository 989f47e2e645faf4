"""A table of the load notices an update that isn't numbered as it must be."""

from typing import Any

import pytest

from scopa_bench.line import Broken
from scopa_bench.table import SEATS, Game
from scopa_bench.wire import CODECS


def update(seq: int, **fields: Any) -> memoryview:
    """A server's frame, as far as the load looks at it."""
    view = {"log": "a", "seq": seq, "phase": "playing", "deal": 1, "turn": 1, "to_play": 0}
    frame = {"type": "update", "seq": seq, "view": {**view, **fields}}
    return memoryview(CODECS["json"].encode(frame))


@pytest.fixture
async def table() -> Game:
    """A table whose four hold update 5, with a play under way."""
    table = Game(CODECS["json"], 1)
    sent: list[bytes] = []
    table.sent = lambda _, data: sent.append(data)
    for seat in range(SEATS):
        table.lines.append(_Deaf())  # type: ignore[arg-type]
        table.heard(seat, update(5, options={"1D": []}))
    table.step(0.0)
    assert len(sent) == 1
    return table


class _Deaf:
    def send(self, *_: object) -> None:
        """Take it."""


@pytest.mark.parametrize("seq", [4, 7])
def test_a_wrong_number_is_noticed(table: Game, seq: int) -> None:
    with pytest.raises(Broken, match="numbered"):
        table.heard(1, update(seq))


def test_who_is_online_may_change_without_a_new_number(table: Game) -> None:
    table.heard(1, update(5, turn=1))
    assert table.commits == 5


def test_another_log_is_noticed(table: Game) -> None:
    with pytest.raises(Broken, match="log"):
        table.heard(1, update(6, log="b"))


def test_a_refusal_is_noticed(table: Game) -> None:
    with pytest.raises(Broken, match="stale"):
        table.heard(1, memoryview(b'{"type":"error","code":"stale","message":"Too late."}'))


def test_an_answer_to_nothing_is_noticed(table: Game) -> None:
    answer = b'{"type":"update","re":[9],"seq":6,"view":null}'
    with pytest.raises(Broken, match="under way"):
        table.heard(1, memoryview(answer))


def test_it_goes_on_once_all_four_hold_the_answered_play(table: Game) -> None:
    done: list[bool] = []
    table.finished = lambda _table, _since, played: done.append(played)
    for seat in range(SEATS):
        table.heard(seat, update(6))
    assert done == []
    table.heard(0, memoryview(b'{"type":"update","re":[1],"seq":6}'))
    assert done == [True]

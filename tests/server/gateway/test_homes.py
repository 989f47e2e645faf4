"""Every worker finds the same home for a room, all of them have as many, and few move."""

from collections import Counter

import pytest

from scopa_protocol import commands as c
from scopa_protocol.invite import CODE_ALPHABET
from scopa_server.gateway import homes
from scopa_server.gateway.homes import destination, home, token_at
from scopa_server.room.tokens import is_token, room_code

CODES = [room_code(f"token {number}", 0) for number in range(4000)]
TOKEN = "0123456789abcdefghijkl"
CODE = CODE_ALPHABET[:8]


def test_homes_are_fixed() -> None:
    """A worker that is started again may be of the next release: they must agree all the same."""
    codes = ["KRTNWXYZ", "ABCDEFGH", "22222222", "ZZZZZZZZ", "QWERTYPA", "H7H7H7H7"]
    assert [home(code, 4) for code in codes] == [1, 1, 1, 3, 1, 4]


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_all_have_as_many(workers: int) -> None:
    rooms = Counter(home(code, workers) for code in CODES)
    even = len(CODES) / workers
    assert sorted(rooms) == list(range(1, workers + 1))
    assert all(0.8 * even < number < 1.2 * even for number in rooms.values())


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_one_more_takes_its_share_and_moves_no_other(workers: int) -> None:
    before = [home(code, workers) for code in CODES]
    after = [home(code, workers + 1) for code in CODES]
    moved = [new for old, new in zip(before, after, strict=True) if old != new]
    assert set(moved) == {workers + 1}
    assert len(moved) < 1.3 * len(CODES) / (workers + 1)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (c.Look(room=CODE), CODE),
        (c.Join(room=f" {CODE[:4]}-{CODE[4:]} ".lower(), name="Anna"), CODE),
        (c.Resume(room=CODE, token=TOKEN), CODE),
        (c.Watch(room=CODE, name="Anna"), CODE),
        (c.Look(room="no code"), None),
        (c.Create(name="Anna", rules={}, token=TOKEN), room_code(TOKEN, 0)),
        (c.Create(name="Anna", rules={}, token="short"), None),
        (c.Create(name="Anna", rules={}), None),
        (c.Ping(), None),
        (c.Start(), None),
    ],
)
def test_what_names_a_room_has_a_destination(command: c.Command, code: str | None) -> None:
    assert destination(command) == code


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_token_drawn_by_a_worker_opens_a_room_that_is_at_home_there(workers: int) -> None:
    for number in range(1, workers + 1):
        tokens = [token_at(number, workers) for _ in range(100)]
        assert all(map(is_token, tokens))
        assert {home(room_code(token, 0), workers) for token in tokens} == {number}


def test_one_that_can_t_be_drawn_is_not_sought_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = list[str]()

    def draw() -> str:
        assert len(drawn) < 100
        drawn.append(f"{len(drawn):022}")
        return drawn[-1]

    monkeypatch.setattr(homes, "new_token", draw)
    monkeypatch.setattr(homes, "room_code", lambda *_: CODE)
    assert token_at(3 - home(CODE, 2), 2) == drawn[-1]
    assert len(drawn) == homes.TRIES

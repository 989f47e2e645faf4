"""What a room's state says of itself."""

from itertools import product

import pytest

from scopa_server.room.state import Holder, Seat


@pytest.mark.parametrize("kind", ["person", "bot", "empty", "vacant"])
def test_a_seat_is_held_by_its_holders_token(kind: str) -> None:
    held = 0
    reservations = (None, Holder(name="Ugo", token="other"))
    for name, token, reserved in product((None, "Anna"), (None, "hash"), reservations):
        seat = Seat(kind=kind, name=name, token=token, reserved=reserved)  # type: ignore[arg-type]
        assert seat.held_by == (None if seat.holder is None else seat.holder.token)
        held += seat.held_by is not None
    assert held == (5 if kind == "person" else 4)

"""How strong a pile is in primiera."""

import pytest

from scopa_server.rules.cards import parse, pile_of
from scopa_server.rules.primiera import PRIMIERE
from scopa_server.rules.record import build


@pytest.mark.parametrize(
    ("primiera", "short", "pile", "strength"),
    [
        ("scale", "out", "7D 6C 1S 5B", (70,)),
        ("scale", "out", "7D 2D 6C 1S 5B 10B", (70,)),
        ("scale", "out", "10D 9C 8S 2B", (42,)),
        ("scale", "out", "7D 7C 7S", ()),
        ("scale", "counted", "7D 7C 7S", (63,)),
        ("scale", "out", "", ()),
        ("faces_zero", "out", "10D 9C 8S 2B", (12,)),
        ("sevens_sixes", "out", "7D 7C 6S 1D", (2, 1)),
        ("sevens_sixes", "counted", "7D 7C 6S 1D", (2, 1)),
        ("sevens", "out", "7D 1D 10D 9D 8D", (1, 0, 1, 0, 0, 0, 0, 1, 1, 1)),
        ("off", "out", "7D 6C 1S 5B", ()),
    ],
)
def test_strength(primiera: str, short: str, pile: str, strength: tuple[int, ...]) -> None:
    rules = build("scopa", {"primiera": primiera, "primiera_short": short})
    assert PRIMIERE[primiera](rules, pile_of(parse(pile))) == strength


@pytest.mark.parametrize("primiera", PRIMIERE)
@pytest.mark.parametrize("short", ["out", "counted"])
def test_empty_pile_never_has_it(primiera: str, short: str) -> None:
    rules = build("scopa", {"primiera": primiera, "primiera_short": short})
    assert not any(PRIMIERE[primiera](rules, pile_of(())))

"""Building the record of rules, and what is refused."""

from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scopa_server.rules.presets import PRESETS
from scopa_server.rules.record import SCORING_FIELDS, Rules, RulesRefused, build
from support import vectors

FIELDS = [field.name for field in fields(Rules)]


def build_or_refuse(variant: str, overrides: dict[str, object]) -> Rules | RulesRefused:
    try:
        return build(variant, overrides)
    except RulesRefused as refused:
        return refused


def refused_field(variant: str, overrides: dict[str, object]) -> str | None:
    built = build_or_refuse(variant, overrides)
    if isinstance(built, Rules):
        return None
    assert built.reason
    return built.field


@pytest.mark.parametrize("case", vectors.load("records"))
def test_vectors(case: dict[str, Any]) -> None:
    assert refused_field(case["variant"], case["rules"]) == case["refused"]


@pytest.mark.parametrize(("players", "sides"), [(2, 2), (3, 3), (4, 2), (5, 5), (6, 2)])
def test_sides_follow_the_players(players: int, sides: int) -> None:
    assert build("scopa", {"players": players}).sides == sides


def test_no_overrides_is_the_default_record() -> None:
    assert build("scopa", {}) == Rules()


def test_record_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Rules().hand = 4  # type: ignore[misc]


@pytest.mark.parametrize("variant", ["", "Scopa", "briscola", None, 3, ["scopa"], {}])
def test_unknown_variant(variant: Any) -> None:
    assert refused_field(variant, {}) == "variant"


def test_variant_among_the_overrides() -> None:
    assert refused_field("scopa", {"variant": "scopa"}) is None
    assert refused_field("scopa", {"variant": "escoba"}) == "variant"
    assert refused_field("scopa", {"variant": ["scopa"]}) == "variant"


def test_unknown_field() -> None:
    assert refused_field("scopa", {"jokers": True}) == "jokers"
    assert refused_field("scopa", {"": 1}) == ""


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hand", True),
        ("hand", 3.0),
        ("hand", "3"),
        ("hand", 10**100),
        ("hand", -1),
        ("players", True),
        ("players", 1),
        ("players", 7),
        ("sides", False),
        ("sides", 1),
        ("target", float("nan")),
        ("napola_cap", 11),
        ("coins_reset", 11),
        ("coins_reset", 1),
        ("ace_sweeps", 1),
        ("ace_sweeps", "true"),
        ("ace_sweeps", None),
        ("capture", "SUM"),
        ("capture", ["sum"]),
        ("capture", {"sum": 1}),
        ("capture", None),
        ("deck", 1),
    ],
)
def test_value_refused(field: str, value: object) -> None:
    assert refused_field("scopa", {field: value}) == field


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"declarations": True, "hand": 4}, "hand"),
        ({"first_card_choice": True, "hand": 4}, "hand"),
        ({"first_card_choice": True, "players": 3}, "first_card_choice"),
        ({"matta": True, "opening_sweep": True}, None),
        ({"matta": True, "declarations": True}, None),
        ({"opening_sweep": True, "hand": 4}, "opening_sweep"),
        ({"reverse": True, "coins_reset": 8}, "reverse"),
        ({"reverse": True, "cappotto": True}, "reverse"),
        ({"cappotto": True, "coins_reset": 8}, "cappotto"),
        ({"cappotto": True, "all_coins": "wins_match"}, None),
        ({"napola_cap": 3}, None),
        ({"players": 6, "hand": 7}, "hand"),
    ],
)
def test_fields_together(overrides: dict[str, object], field: str | None) -> None:
    assert refused_field("scopa", overrides) == field


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=2),
    st.sampled_from(["sum", "fifteen", "next", "card", "off", "everyone", "sweeps"]),
)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(PRESETS)),
    st.dictionaries(st.sampled_from([*FIELDS, "other"]), ODD, max_size=4),
)
def test_anything_is_built_or_refused(variant: str, overrides: dict[str, object]) -> None:
    built = build_or_refuse(variant, overrides)
    if isinstance(built, RulesRefused):
        assert built.field in {*FIELDS, "other"}
        assert built.reason
        return
    for field, value in overrides.items():
        assert type(getattr(built, field)) is type(value)
        assert getattr(built, field) == value


def test_scoring_fields_are_fields() -> None:
    assert set(FIELDS) >= SCORING_FIELDS
    assert len(SCORING_FIELDS) == 19

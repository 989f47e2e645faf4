"""The named games."""

import pytest

from scopa_server.rules.presets import PRESETS
from scopa_server.rules.record import RulesRefused, build


def test_seventeen_presets() -> None:
    assert len(PRESETS) == 17


@pytest.mark.parametrize("variant", PRESETS)
def test_every_preset_builds_for_every_number_of_players(variant: str) -> None:
    preset = PRESETS[variant]
    rules = build(variant, {})
    assert rules.variant == variant
    assert rules.players == preset.players
    for field, value in preset.overrides.items():
        assert getattr(rules, field) == value
    for players in preset.allowed_players:
        assert build(variant, {"players": players}).players == players


@pytest.mark.parametrize("variant", PRESETS)
def test_other_numbers_of_players_are_refused(variant: str) -> None:
    for players in {2, 3, 4, 5, 6} - set(PRESETS[variant].allowed_players):
        with pytest.raises(RulesRefused) as refused:
            build(variant, {"players": players, "hand": 3})
        assert refused.value.field == "players"


@pytest.mark.parametrize(
    "variant", ["scopone", "scopone_scientifico", "scopone_trentino", "milanese"]
)
def test_games_of_four_are_in_pairs(variant: str) -> None:
    assert build(variant, {}).sides == 2
    with pytest.raises(RulesRefused) as refused:
        build(variant, {"sides": 4})
    assert refused.value.field == "sides"


def test_house_game_of_four_alone() -> None:
    rules = build("scopa", {"players": 4, "hand": 9, "sides": 4})
    assert (rules.hand, rules.sides) == (9, 4)

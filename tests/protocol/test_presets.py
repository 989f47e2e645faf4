"""The presets that clients explain are those that the server plays by."""

from scopa_protocol.explained import VARIANTS
from scopa_protocol.presets import PRESETS
from scopa_protocol.rules import SCORING
from scopa_server.rules import presets
from scopa_server.rules.record import SCORING_FIELDS


def test_the_presets_are_the_servers() -> None:
    ours = {
        name: (preset.players, preset.allowed_players, preset.overrides)
        for name, preset in PRESETS.items()
    }
    assert ours == {
        name: (preset.players, preset.allowed_players, dict(preset.overrides))
        for name, preset in presets.PRESETS.items()
    }


def test_every_preset_is_explained() -> None:
    assert {variant.name for variant in VARIANTS} == set(PRESETS)


def test_what_can_be_rescored_is_what_the_server_rescores() -> None:
    assert set(SCORING) == set(SCORING_FIELDS)

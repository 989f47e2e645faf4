"""A room's settings."""

from typing import Any

import msgspec
import pytest

from scopa_protocol.settings import Settings


def test_the_defaults_are_those_of_the_protocol() -> None:
    assert msgspec.to_builtins(Settings()) == {
        "turn_seconds": 0,
        "absent_seconds": 60,
        "next_deal_seconds": 30,
        "watchers": "none",
        "watchers_talk": False,
        "talk": "between_deals",
        "hints": "options",
        "pace_ms": 800,
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"turn_seconds": 5},
        {"turn_seconds": 600},
        {"absent_seconds": 0},
        {"next_deal_seconds": 0},
        {"watchers": "table", "watchers_talk": True},
        {"talk": "always"},
        {"hints": "memory"},
        {"pace_ms": 5000},
    ],
)
def test_sound_settings(fields: dict[str, Any]) -> None:
    assert msgspec.convert(fields, Settings) == Settings(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"turn_seconds": 1},
        {"turn_seconds": 4},
        {"turn_seconds": 601},
        {"turn_seconds": -5},
        {"turn_seconds": True},
        {"turn_seconds": 30.5},
        {"turn_seconds": "30"},
        {"absent_seconds": -1},
        {"absent_seconds": 86_401},
        {"next_deal_seconds": 10**400},
        {"watchers": "all"},
        {"watchers_talk": 1},
        {"talk": None},
        {"hints": ""},
        {"pace_ms": 5001},
    ],
)
def test_unsound_settings(fields: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(fields, Settings)

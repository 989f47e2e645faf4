"""The named games, each a few overrides on the defaults (rulebook, Presets)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A named game: who may play it, and the fields in which it differs."""

    players: int = 2
    allowed_players: tuple[int, ...] = (2, 3, 4, 5, 6)
    allowed_sides: tuple[int, ...] | None = None
    """None: whatever the number of players allows."""
    overrides: Mapping[str, bool | int | str] = field(default_factory=dict[str, bool | int | str])


def _in_pairs(**overrides: bool | int | str) -> Preset:
    return Preset(players=4, allowed_players=(4,), allowed_sides=(2,), overrides=overrides)


_NAPOLA: Final[Mapping[str, int | str]] = {
    "napola": "run",
    "all_coins": "wins_match",
    "target": 21,
}

_CIRULLA: Final[Mapping[str, bool | int | str]] = {
    "capture": "sum_or_fifteen",
    "equal_first": False,
    "ace_sweeps": True,
    "ace_scopa": True,
    "void_deal": "two_aces",
    "void_dealer": "next",
    "opening_sweep": True,
    "declarations": True,
    "matta": True,
    "napola": "run",
    "napola_cap": 6,
    "grande": True,
    "all_coins": "wins_match",
    "target": 51,
}

_QUINDICI: Final[Mapping[str, str]] = {"capture": "fifteen", "void_deal": "never"}

_CHKOBBA: Final[Mapping[str, bool | int | str]] = {
    "deck": "tunisian",
    "first_card_choice": True,
    "primiera": "sevens_sixes",
    "target": 21,
}

PRESETS: Final[Mapping[str, Preset]] = {
    "scopa": Preset(),
    "scopa_dassi": Preset(overrides={"ace_sweeps": True}),
    "asso_piglia_tutto": Preset(overrides={"ace_sweeps": True, "ace_scopa": True}),
    "scopone": _in_pairs(hand=9),
    "scopone_scientifico": _in_pairs(hand=10),
    "napola": Preset(overrides=_NAPOLA),
    "scopone_trentino": _in_pairs(hand=9, **_NAPOLA),
    "milanese": _in_pairs(hand=10, ace_sweeps=True, **_NAPOLA),
    "re_bello": Preset(overrides={"re_bello": True}),
    "cosentina": Preset(overrides={"settecoppe": True}),
    "napoletana": Preset(overrides={"all_sevens": True}),
    "quindici": Preset(overrides=_QUINDICI),
    "escoba": Preset(overrides={**_QUINDICI, "opening_sweep": True, "target": 21}),
    "cirulla": Preset(allowed_players=(2, 3, 4), overrides=_CIRULLA),
    "chkobba": Preset(allowed_players=(2, 4), overrides=_CHKOBBA),
    "libica": Preset(players=4, overrides={"scopa_value": "cards", "coins_reset": 10}),
    "a_perdere": Preset(overrides={"reverse": True, "target": 21}),
}

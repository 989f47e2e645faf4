"""The named games as data: how many play, and the rules in which each differs from the record."""

from typing import Final

from msgspec import Struct


class Preset(Struct, frozen=True, kw_only=True):
    """A named game; without `overrides` it is the record as it stands."""

    players: int = 2
    allowed_players: tuple[int, ...] = (2, 3, 4, 5, 6)
    overrides: dict[str, bool | int | str] = {}


PRESETS: Final = {
    "scopa": Preset(),
    "scopa_dassi": Preset(overrides={"ace_sweeps": True}),
    "asso_piglia_tutto": Preset(overrides={"ace_sweeps": True, "ace_scopa": True}),
    "scopone": Preset(players=4, allowed_players=(4,), overrides={"hand": 9}),
    "scopone_scientifico": Preset(players=4, allowed_players=(4,), overrides={"hand": 10}),
    "napola": Preset(overrides={"napola": "run", "all_coins": "wins_match", "target": 21}),
    "scopone_trentino": Preset(
        players=4,
        allowed_players=(4,),
        overrides={"hand": 9, "napola": "run", "all_coins": "wins_match", "target": 21},
    ),
    "milanese": Preset(
        players=4,
        allowed_players=(4,),
        overrides={
            "hand": 10,
            "ace_sweeps": True,
            "napola": "run",
            "all_coins": "wins_match",
            "target": 21,
        },
    ),
    "re_bello": Preset(overrides={"re_bello": True}),
    "cosentina": Preset(overrides={"settecoppe": True}),
    "napoletana": Preset(overrides={"all_sevens": True}),
    "quindici": Preset(overrides={"capture": "fifteen", "void_deal": "never"}),
    "escoba": Preset(
        overrides={"capture": "fifteen", "void_deal": "never", "opening_sweep": True, "target": 21}
    ),
    "cirulla": Preset(
        allowed_players=(2, 3, 4),
        overrides={
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
        },
    ),
    "chkobba": Preset(
        allowed_players=(2, 4),
        overrides={
            "deck": "tunisian",
            "first_card_choice": True,
            "primiera": "sevens_sixes",
            "target": 21,
        },
    ),
    "libica": Preset(players=4, overrides={"scopa_value": "cards", "coins_reset": 10}),
    "a_perdere": Preset(overrides={"reverse": True, "target": 21}),
}

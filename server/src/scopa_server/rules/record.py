"""The record of rules that a match is played by (rulebook, The record)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from scopa_server.rules.presets import PRESETS, Preset


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Every choice a table makes, each with the rulebook's default."""

    variant: str = "scopa"
    players: int = 2
    sides: int = 2
    deck: Literal["italian", "french", "french_pips", "tunisian"] = "italian"

    # The deal
    hand: int = 3
    void_deal: Literal["three_kings", "two_aces", "never"] = "three_kings"
    void_dealer: Literal["same", "next"] = "same"
    first_card_choice: bool = False
    opening_sweep: bool = False

    # A turn
    capture: Literal["sum", "fifteen", "sum_or_fifteen"] = "sum"
    equal_first: bool = True
    fewest: bool = False
    must_capture: bool = True
    ace_sweeps: bool = False
    ace_scopa: bool = False
    ace_on_ace: Literal["takes_ace", "sweeps"] = "takes_ace"
    ace_on_empty: Literal["stays", "takes_itself"] = "stays"
    last_card_scopa: bool = False
    leftovers_scopa: bool = False

    # The count
    scopa_value: Literal["one", "card", "cards"] = "one"
    napola: Literal["off", "run", "three"] = "off"
    napola_cap: int = 10
    grande: bool = False
    re_bello: bool = False
    settecoppe: bool = False
    all_sevens: bool = False
    ties: Literal["nobody", "everyone"] = "nobody"
    primiera: Literal["scale", "faces_zero", "sevens", "sevens_sixes", "off"] = "scale"
    primiera_short: Literal["out", "counted"] = "out"
    coins_reset: int = 0

    # The match
    all_coins: Literal["nothing", "wins_match"] = "nothing"
    cappotto: bool = False
    target: int = 11
    reverse: bool = False

    # Cirulla's declarations
    declarations: bool = False
    declare_both: bool = False
    matta: bool = False

    def __hash__(self) -> int:
        """A few fields tell most rules apart, and take no time."""
        return hash((self.variant, self.players, self.hand, self.target, self.capture))


class RulesRefused(Exception):
    """Rules that can't be played as asked: the field at fault, and why in a host's words."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


SCORING_FIELDS: Final = frozenset(
    {
        "sides",
        "target",
        "primiera",
        "primiera_short",
        "napola",
        "napola_cap",
        "grande",
        "re_bello",
        "settecoppe",
        "all_sevens",
        "scopa_value",
        "ace_scopa",
        "last_card_scopa",
        "leftovers_scopa",
        "ties",
        "coins_reset",
        "all_coins",
        "cappotto",
        "reverse",
    }
)
"""Fields that may change between the deals of a match (rulebook, Rescoring)."""

SIDES: Final[Mapping[int, tuple[int, ...]]] = {
    2: (2,),
    3: (3,),
    4: (2, 4),
    5: (5,),
    6: (2, 3, 6),
}
"""The sides that each number of players can form, the usual first (rulebook, The record)."""

_TYPES: Final[Mapping[str, Any]] = get_type_hints(Rules)

_ALLOWED: Final[Mapping[str, range | tuple[int, ...]]] = {
    "players": range(2, 7),
    "sides": range(2, 7),
    "hand": range(1, 41),
    "napola_cap": range(3, 11),
    "target": range(1, 102),
    "coins_reset": (0, *range(6, 11)),
}


def _whole(field: str, value: object) -> str | None:
    # bool is an int to Python, and True players would be one player.
    if type(value) is not int:
        return "must be a whole number"
    allowed = _ALLOWED[field]
    if value in allowed:
        return None
    lowest = "0, or 6" if field == "coins_reset" else str(allowed[0])
    return f"must be {lowest} to {allowed[-1]}"


def _yes_or_no(_: str, value: object) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def _choice(field: str, value: object) -> str | None:
    choices: tuple[str, ...] = get_args(_TYPES[field])
    if isinstance(value, str) and value in choices:
        return None
    return "must be one of " + ", ".join(choices)


_FAULTS: Final[Mapping[Any, Callable[[str, object], str | None]]] = {
    int: _whole,
    bool: _yes_or_no,
    Literal: _choice,
}


def _check_value(field: str, value: object) -> None:
    if field not in _TYPES:
        raise RulesRefused(str(field), "there is no such rule")
    kind = _TYPES[field]
    fault = _FAULTS[get_origin(kind) or kind](field, value)
    if fault:
        raise RulesRefused(field, fault)


def _check_people(rules: Rules, preset: Preset) -> None:
    if rules.players not in preset.allowed_players:
        allowed = ", ".join(map(str, preset.allowed_players))
        raise RulesRefused("players", f"{rules.variant} is played by {allowed}")
    sides = preset.allowed_sides or SIDES[rules.players]
    if rules.sides not in sides:
        allowed = " or ".join(map(str, sides))
        raise RulesRefused("sides", f"{rules.players} players form {allowed} sides")


def _no_opening(rules: Rules) -> bool:
    return 40 % (rules.hand * rules.players) == 0


_CONFLICTS: Final[tuple[tuple[str, str, Callable[[Rules], bool]], ...]] = (
    (
        "hand",
        "hand times players can't be more than the 40 cards",
        lambda r: r.hand * r.players > 40,
    ),
    (
        "hand",
        "must be 3 with declarations or first_card_choice",
        lambda r: r.hand != 3 and (r.declarations or r.first_card_choice),
    ),
    (
        "first_card_choice",
        "needs two sides",
        lambda r: r.first_card_choice and r.sides != 2,
    ),
    (
        "declare_both",
        "needs declarations",
        lambda r: r.declare_both and not r.declarations,
    ),
    (
        "matta",
        "needs declarations or opening_sweep",
        lambda r: r.matta and not (r.declarations or r.opening_sweep),
    ),
    (
        "ace_on_empty",
        "takes_itself needs ace_sweeps",
        lambda r: r.ace_on_empty == "takes_itself" and not r.ace_sweeps,
    ),
    (
        "opening_sweep",
        "with this hand and these players no card opens the table",
        lambda r: r.opening_sweep and _no_opening(r),
    ),
    (
        "reverse",
        "can't be played with all_coins, cappotto or coins_reset",
        lambda r: r.reverse and bool(r.all_coins != "nothing" or r.cappotto or r.coins_reset),
    ),
    (
        "cappotto",
        "can't be played with coins_reset",
        lambda r: r.cappotto and r.coins_reset != 0,
    ),
)
"""Fields that don't go together: the one refused, why, and when."""


def _check_conflicts(rules: Rules) -> None:
    for field, reason, conflict in _CONFLICTS:
        if conflict(rules):
            raise RulesRefused(field, reason)


def build(variant: str, overrides: Mapping[str, object]) -> Rules:
    """Make a preset's rules with these overrides, or raise RulesRefused (rulebook, The record)."""
    if not isinstance(variant, str) or variant not in PRESETS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RulesRefused("variant", "must be one of " + ", ".join(PRESETS))
    preset = PRESETS[variant]
    chosen: dict[str, Any] = {"players": preset.players, **preset.overrides, **overrides}
    if chosen.setdefault("variant", variant) != variant:
        raise RulesRefused("variant", "is chosen beside the overrides, not among them")
    for field, value in chosen.items():
        if field != "variant":
            _check_value(field, value)
    chosen.setdefault("sides", SIDES[chosen["players"]][0])
    rules = Rules(**chosen)
    _check_people(rules, preset)
    _check_conflicts(rules)
    return shared(rules)


@lru_cache(maxsize=256)
def shared(rules: Rules) -> Rules:
    """Give one record for all that are alike: many rooms play by the same rules."""
    return rules

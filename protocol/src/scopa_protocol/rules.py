"""The record of rules as it stands in a view: every field, with the values it may have."""

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

Deck: TypeAlias = Literal["italian", "french", "french_pips", "tunisian"]
VoidDeal: TypeAlias = Literal["three_kings", "two_aces", "never"]
Capture: TypeAlias = Literal["sum", "fifteen", "sum_or_fifteen"]
Primiera: TypeAlias = Literal["scale", "faces_zero", "sevens", "sevens_sixes", "off"]


class Rules(Struct, frozen=True, kw_only=True):
    """What a room plays. The server builds it from a preset (`variant`) and overrides."""

    variant: str = "scopa"
    players: Annotated[int, Meta(ge=2, le=6)] = 2
    sides: Annotated[int, Meta(ge=2, le=6)] = 2
    deck: Deck = "italian"

    hand: Annotated[int, Meta(ge=1, le=20)] = 3
    void_deal: VoidDeal = "three_kings"
    void_dealer: Literal["same", "next"] = "same"
    first_card_choice: bool = False
    opening_sweep: bool = False

    capture: Capture = "sum"
    equal_first: bool = True
    fewest: bool = False
    must_capture: bool = True
    ace_sweeps: bool = False
    ace_scopa: bool = False
    ace_on_ace: Literal["takes_ace", "sweeps"] = "takes_ace"
    ace_on_empty: Literal["stays", "takes_itself"] = "stays"
    last_card_scopa: bool = False
    leftovers_scopa: bool = False

    scopa_value: Literal["one", "card", "cards"] = "one"
    napola: Literal["off", "run", "three"] = "off"
    napola_cap: Annotated[int, Meta(ge=3, le=10)] = 10
    grande: bool = False
    re_bello: bool = False
    settecoppe: bool = False
    all_sevens: bool = False
    ties: Literal["nobody", "everyone"] = "nobody"
    primiera: Primiera = "scale"
    primiera_short: Literal["out", "counted"] = "out"
    coins_reset: int = 0

    all_coins: Literal["nothing", "wins_match"] = "nothing"
    cappotto: bool = False
    target: Annotated[int, Meta(ge=1, le=101)] = 11
    reverse: bool = False

    declarations: bool = False
    matta: bool = False
    declare_both: bool = False


SCORING: Final = (
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
)
"""The fields that may be changed between deals, and the match counted again."""

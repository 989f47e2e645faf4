"""A room's settings: how the table is run, as opposed to what is played."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a room; the host may change each at any time. Times in seconds."""

    turn_seconds: Annotated[int, Meta(ge=0, le=600)] = 0
    absent_seconds: Annotated[int, Meta(ge=0, le=86_400)] = 60
    next_deal_seconds: Annotated[int, Meta(ge=0, le=86_400)] = 30
    watchers: Literal["none", "table"] = "none"
    watchers_talk: bool = False
    talk: Literal["between_deals", "always", "off"] = "between_deals"
    hints: Literal["options", "off", "memory"] = "options"
    pace_ms: Annotated[int, Meta(ge=0, le=5000)] = 800

    def __post_init__(self) -> None:
        """Raises ValueError for a turn too short to be played."""
        if 0 < self.turn_seconds < 5:
            raise ValueError("turn_seconds is 0 (no limit) or 5 to 600")

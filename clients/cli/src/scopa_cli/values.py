"""Typed `key=value` pairs, seats and names."""

from typing import Final, TypeAlias

from msgspec import structs

from scopa_protocol.rules import Rules
from scopa_protocol.settings import Settings
from scopa_protocol.views import SeatView, View

from .screens.people import by_holder

Value: TypeAlias = bool | int | str

SWITCHES: Final = {
    "true": True,
    "yes": True,
    "on": True,
    "false": False,
    "no": False,
    "off": False,
}
USUAL: Final = structs.asdict(Rules()) | structs.asdict(Settings())


def value(key: str, text: str) -> Value:
    """A value as JSON knows it: `on` and `off` are switches only where the field is one."""
    if isinstance(USUAL.get(key), bool) and text.lower() in SWITCHES:
        return SWITCHES[text.lower()]
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 16 else text


def pairs(words: list[str]) -> dict[str, Value]:
    """The pairs of a line. Raises ValueError, in words."""
    found: dict[str, Value] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key or not text:
            raise ValueError(f"write {key or 'a rule'}=VALUE, without spaces")
        found[key.lower()] = value(key.lower(), text)
    return found


def find_seat(text: str, view: View) -> SeatView:
    """A seat by its number or by its person. Raises ValueError, in words.

    It comes under the name of who has it reserved, unless the bot was named that still plays it.
    """
    belong = by_holder(view).seats
    if text.isascii() and text.isdecimal() and len(text) < 4 and int(text) < len(belong):
        return belong[int(text)]
    name = text.casefold()
    still = [seat for seat in view.seats if seat.reserved is not None]
    named = [seat for seat in [*belong, *still] if seat.name is not None]
    exact = [seat for seat in named if (seat.name or "").casefold() == name]
    begun = [seat for seat in named if name and (seat.name or "").casefold().startswith(name)]
    for found in (exact, begun):
        if len(found) == 1:
            return found[0]
    raise ValueError(_no_seat(text, [seat.name or "" for seat in begun], view))


def _no_seat(text: str, begun: list[str], view: View) -> str:
    where = f"type a seat's number, 0 to {len(view.seats) - 1}, or a name at the table"
    if begun:
        return f"{text} could be {' or '.join(begun)}: {where}"
    if text.isdecimal():
        return f"there is no seat {text}: {where}"
    return f"nobody here is called {text}: {where}" if text else where

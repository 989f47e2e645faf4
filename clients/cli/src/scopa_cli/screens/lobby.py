"""The room before a match: seats, rules, settings, and how to fill it."""

from typing import Any, Final

from msgspec import structs

from scopa_cli.lines import Line, Span, line
from scopa_protocol.presets import PRESETS, Preset
from scopa_protocol.rules import Rules
from scopa_protocol.settings import Settings
from scopa_protocol.views import SeatView, View

from .people import by_holder, my_side, seat_name

RUNNING: Final = ("playing", "deal_over")
ROOM_FIELDS: Final = frozenset({"variant", "players", "sides", "target"})


def lobby(view: View) -> list[Line]:
    """Who sits where, and what will be played."""
    return [
        line(Span(f"── Room {view.room}: {variant(view.rules)} ──", "bold")),
        *(_seat(view, seat) for seat in view.seats),
        *_watchers(view),
        *rules(view),
    ]


def variant(played: Rules) -> str:
    """A room's game in a few words."""
    pairs = f", {played.sides} sides" if played.sides != played.players else ""
    name = played.variant.replace("_", " ")
    return f"{name}, {played.players} players{pairs}, to {played.target}"


def _seat(view: View, seat: SeatView) -> Line:
    return line(f"  seat {seat.seat}  ", seat_state(view, seat))


def seat_state(view: View, seat: SeatView) -> Line:
    """Who sits on a seat, with everything that is worth knowing about it."""
    if seat.reserved is None:
        return _occupant(seat, [*_person(view, seat), *_player(seat)], mine=seat.seat == view.you)
    view = by_holder(view)
    holder = view.seats[seat.seat]
    comes = _occupant(holder, _person(view, holder), mine=seat.seat == view.you)
    joint = ", then " if seat.name else ", reserved for "
    return line(_occupant(seat, _player(seat), mine=False), joint, comes)


def _occupant(seat: SeatView, marks: list[tuple[bool, str]], *, mine: bool) -> Line:
    if seat.name is None:
        return line(seat.kind)
    held = [mark for holds, mark in marks if holds]
    text = f" ({', '.join(held)})" if held else ""
    return line(Span(seat.name, "mine" if mine else "bold"), text)


def _person(view: View, seat: SeatView) -> list[tuple[bool, str]]:
    """What is so of whom the seat belongs to."""
    partner = view.rules.sides != view.rules.players and seat.side == my_side(view)
    return [
        (seat.seat == view.you, "you"),
        (seat.seat == view.host, "host"),
        (partner and seat.seat != view.you, "your partner"),
        (seat.kind == "person" and not seat.online, "not connected"),
        (seat.kind == "person" and seat.online and seat.away, "away"),
    ]


def _player(seat: SeatView) -> list[tuple[bool, str]]:
    """What is so of who plays the seat's cards."""
    return [
        (seat.kind == "bot", "bot"),
        (seat.kind == "vacant", "gave the seat up"),
        (seat.stand_in, "played by the server"),
    ]


def _watchers(view: View) -> list[Line]:
    return [line(f"  watching: {', '.join(view.watchers)}")] if view.watchers else []


def rules(view: View) -> list[Line]:
    """The rules that differ from the variant's own, and the settings that were chosen."""
    changed = _changed(view.rules, _usual(view.rules), ROOM_FIELDS)
    kept = _changed(view.settings, structs.asdict(Settings()), frozenset())
    shown = [f"  rules: {changed}"] if changed else []
    shown += [f"  settings: {kept}"] if kept else []
    shown += ["  a passcode is needed to join"] if view.passcode else []
    return [line(text) for text in shown]


def changes(old: View, new: View) -> list[Line]:
    """The passcode, and during a match the settings, where they are others now."""
    kept = _changed(new.settings, structs.asdict(old.settings), frozenset())
    shown = [line(f"From now on: {kept}.")] if kept and new.phase in RUNNING else []
    if new.passcode and not old.passcode:
        shown.append(line("Newcomers need a passcode now."))
    if old.passcode and not new.passcode:
        shown.append(line("Newcomers need no passcode any more."))
    return shown


def _usual(played: Rules) -> dict[str, Any]:
    preset = PRESETS.get(played.variant, Preset())
    return structs.asdict(Rules()) | preset.overrides


def _changed(given: Rules | Settings, usual: dict[str, Any], left_out: frozenset[str]) -> str:
    return ", ".join(
        f"{field}={written(value)}"
        for field, value in structs.asdict(given).items()
        if field not in left_out and value != usual[field]
    )


def written(value: Any) -> str:
    """A rule's value as a person types it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def how_to_fill(view: View) -> list[Line]:
    """What a lobby waits for."""
    free = [seat.seat for seat in view.seats if seat.kind in ("empty", "vacant")]
    if view.you is None:
        return []
    host = view.you == view.host
    if free and host:
        return [line(f"Waiting for players. bot {free[0]} puts a bot on seat {free[0]}.")]
    if free:
        return [line("Waiting for players.")]
    if host:
        return [line(Span("Everybody is here. Type start to begin.", "mine"))]
    name = seat_name(view, view.host) if view.host is not None else "the host"
    return [line(f"Everybody is here. Waiting for {name} to start.")]

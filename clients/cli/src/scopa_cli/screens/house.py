"""Rules in words, from the protocol's explanations: a variant's, and a room's own."""

from textwrap import wrap
from typing import Final

from msgspec import structs

from scopa_cli.lines import Line, Span, fit, line
from scopa_protocol.explained import RULES, VARIANTS, Rule, Variant
from scopa_protocol.frames import RoomFrame
from scopa_protocol.presets import PRESETS, Preset
from scopa_protocol.rules import Rules
from scopa_protocol.views import SeatView

from .lobby import variant as in_short
from .lobby import written

NAMED: Final = {variant.name: variant for variant in VARIANTS}
FIELDS: Final = {rule.field: rule for rule in RULES}
OF_THE_ROOM: Final = frozenset({"variant", "players", "sides"})
"""Told in other words than a rule's."""
PLAIN: Final[dict[str, bool | int | str]] = structs.asdict(Rules())


USUAL_SIDES: Final = {2: 2, 3: 3, 4: 2, 5: 5, 6: 2}


def paragraph(text: str, columns: int, indent: str = "") -> list[Line]:
    """A text in rows that are no wider than so many columns."""
    return [
        line(row) for row in wrap(text, columns, initial_indent=indent, subsequent_indent=indent)
    ]


def own(rules: Rules) -> dict[str, bool | int | str]:
    """The rules in which a room differs from its variant as it is usually played."""
    preset = PRESETS.get(rules.variant, Preset())
    usual = PLAIN | preset.overrides
    return {
        field: value
        for field, value in structs.asdict(rules).items()
        if field not in OF_THE_ROOM and value != usual[field]
    }


def explain(field: str, value: bool | int | str) -> str:
    """What a rule means with a value."""
    rule = FIELDS.get(field)
    if rule is None:
        return ""
    if written(value) in rule.values:
        return f"{rule.text.rstrip('.')}: {rule.values[written(value)]}."
    return (
        f"Not played here: {rule.text[:1].lower()}{rule.text[1:]}" if value is False else rule.text
    )


def listed(rules: dict[str, bool | int | str], columns: int) -> list[Line]:
    """Rules with their values, each explained below."""
    shown: list[Line] = []
    for field, value in rules.items():
        shown.append(line("  ", Span(f"{field}={written(value)}", "bold")))
        shown += paragraph(explain(field, value), columns, "      ")
    return shown


def room(frame: RoomFrame, columns: int) -> list[Line]:
    """A room before one sits down: what is played there, and what of it is its own."""
    told = NAMED.get(frame.rules.variant)
    different = own(frame.rules)
    shown = [line(Span(f"── Room {frame.room}: {in_short(frame.rules)} ──", "bold"))]
    shown += paragraph(told.text, columns) if told else []
    if different:
        title = told.title if told else "the plain game"
        shown += [line(f"Here it differs from {title} as usual:"), *listed(different, columns)]
    names = ", ".join(name for seat in frame.seats if (name := _at_table(seat)))
    return [*shown, *([line(f"At the table: {names}.")] if names else [])]


def _at_table(seat: SeatView) -> str | None:
    return f"{seat.reserved} (from the next deal)" if seat.reserved else seat.name


def variant(name: str, columns: int) -> list[Line]:
    """One variant in full."""
    told, preset = NAMED[name], PRESETS[name]
    shown = [line(Span(told.title, "bold"), f" ({name})"), *paragraph(told.text, columns)]
    shown.append(line(_players(preset)))
    if not preset.overrides:
        return [*shown, line("It is the plain game: every rule as scopa variants --rules has it.")]
    return [*shown, line("It differs from plain Scopa:"), *listed(preset.overrides, columns)]


def _players(preset: Preset) -> str:
    allowed = preset.allowed_players
    if len(allowed) == 1:
        return f"For {allowed[0]} players."
    run = list(allowed) == list(range(allowed[0], allowed[-1] + 1))
    many = f"{allowed[0]} to {allowed[-1]}" if run else " or ".join(map(str, allowed))
    return f"For {many} players; {preset.players} unless you say otherwise."


def every_rule(name: str | None, columns: int) -> list[Line]:
    """Every rule with its values, and what it is in a variant (or in the plain game)."""
    preset = PRESETS[name] if name else Preset()
    people = {"players": preset.players, "sides": USUAL_SIDES[preset.players]}
    played = PLAIN | people | preset.overrides
    shown = [
        line("The value is that of ", Span(NAMED[name].title if name else "Scopa", "bold"), ".")
    ]
    for rule in RULES:
        if rule.field != "variant":
            shown += _rule(rule, played[rule.field], columns)
    return shown


def _rule(rule: Rule, value: bool | int | str, columns: int) -> list[Line]:
    kind = " (or false)" if value is True else " (or true)" if value is False else ""
    shown = [line(Span(f"{rule.field}={written(value)}", "bold"), kind)]
    shown += paragraph(rule.text, columns, "    ")
    width = max(map(len, rule.values), default=0)
    for name, text in rule.values.items():
        first, *rest = paragraph(text, max(columns - width - 8, 20)) or [line()]
        shown.append(line("      ", Span(fit(name, width), "bold"), "  ", first))
        shown += [line(" " * (width + 8), more) for more in rest]
    return shown


def variants(playable: list[str] | None, columns: int) -> list[Line]:
    """Every variant with its text; `playable`: the server's, None where none was asked."""
    shown: list[Line] = []
    for told in VARIANTS:
        shown += _variant(told, playable, columns)
    for name in playable or []:
        if name not in NAMED:
            shown.append(line(Span(name, "bold"), "  (newer than this client)"))
    return [
        *shown,
        line("More of one: scopa variants NAME. Every rule: scopa variants --rules."),
        line("Open a room with: scopa host --variant NAME"),
    ]


def _variant(told: Variant, playable: list[str] | None, columns: int) -> list[Line]:
    missing = playable is not None and told.name not in playable
    mark = "  (not played by this server)" if missing else ""
    return [line(Span(told.name, "bold"), mark), *paragraph(told.text, columns, "    ")]

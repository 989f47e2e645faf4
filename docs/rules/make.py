"""Write the tables in the pages beside this file anew: `make docs`.

Each page says by hand how a variant is played; which rules differ comes from the presets.
"""

import re
import sys
from pathlib import Path
from typing import Final

from scopa_protocol.explained import RULES, VARIANTS
from scopa_server.rules.presets import PRESETS
from scopa_server.rules.record import Rules, build

HERE: Final = Path(__file__).parent
WORDS: Final = {rule.field: rule for rule in RULES}


def shown(value: object) -> str:
    """A rule's value as a host types it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def meaning(field: str, value: object) -> str:
    """What a rule means with a value, in words."""
    rule = WORDS[field]
    if str(value) in rule.values:
        return f"{rule.text.rstrip('.')}: {rule.values[str(value)]}."
    return f"Not here: {rule.text[:1].lower()}{rule.text[1:]}" if value is False else rule.text


def differences(variant: str) -> str:
    """The rules in which a variant differs from plain Scopa."""
    here, usual = build(variant, {}), Rules()
    rows = [
        f"| `{rule.field}` | `{shown(getattr(here, rule.field))}` | "
        f"{meaning(rule.field, getattr(here, rule.field))} |"
        for rule in RULES
        if rule.field != "variant" and getattr(here, rule.field) != getattr(usual, rule.field)
    ]
    if not rows:
        return "All rules are at their defaults.\n"
    return "\n".join(["| rule | here | |", "|---|---|---|", *rows, ""])


def players(variant: str) -> str:
    """For how many a variant is, in words."""
    preset = PRESETS[variant]
    allowed = tuple(preset.allowed_players)
    pairs = ", in pairs" if preset.allowed_sides == (2,) else ""
    between = " or " if len(allowed) == 2 else " to "
    return between.join(map(str, sorted({allowed[0], allowed[-1]}))) + pairs


def index() -> str:
    """Every variant in a line."""
    rows = [
        f"| [{variant.title}]({variant.name}.md) | `{variant.name}` | {players(variant.name)} | "
        f"{variant.text} |"
        for variant in VARIANTS
    ]
    return "\n".join(["| | variant | players | |", "|---|---|---|---|", *rows, ""])


def options() -> str:
    """Every rule with its default and its values."""
    usual = Rules()
    rows: list[str] = []
    for rule in RULES:
        values = "; ".join(f"`{name}`: {text}" for name, text in rule.values.items())
        default = shown(getattr(usual, rule.field))
        rows.append(f"| `{rule.field}` | `{default}` | {f'{rule.text} {values}'.strip()} |")
    return "\n".join(["| rule | default | |", "|---|---|---|", *rows, ""])


def filled(text: str, name: str) -> str:
    """A page with its tables written anew."""
    tables = {"differences": lambda: differences(name), "variants": index, "rules": options}

    def table(found: re.Match[str]) -> str:
        kind = found[1]
        return f"<!-- {kind} -->\n{tables[kind]()}<!-- end -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL)


def main() -> int:
    """Exit status."""
    for page in sorted(HERE.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        page.write_text(filled(text, page.stem), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What the pages about the variants say is what the rules do."""

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scopa_server.rules import captures, deal, declare, opening
from scopa_server.rules.cards import DECK, parse
from scopa_server.rules.count import count
from scopa_server.rules.match import winner
from scopa_server.rules.presets import PRESETS
from scopa_server.rules.record import Rules, build

PAGES = Path(__file__).parents[2] / "docs" / "rules"
Example = dict[str, str]


def examples() -> list[Any]:
    """Every example on every page."""
    found: list[Any] = []
    for page in sorted(PAGES.glob("*.md")):
        blocks = re.findall(r"```scopa\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        for number, block in enumerate(blocks, 1):
            lines = [line.partition(":") for line in block.strip().splitlines()]
            example = {name.strip(): text.strip() for name, _, text in lines}
            found.append(pytest.param(example, id=f"{page.stem}-{number}"))
    return found


def rules_of(example: Example) -> Rules:
    """The rules that an example is played by."""
    variant, *overrides = example["rules"].split()
    fields = dict(word.split("=") for word in overrides)
    return build(variant, fields)


def check_play(rules: Rules, example: Example) -> None:
    """`table`, `play` → `takes`, and whether the first of them is a `scopa`."""
    table, (card,) = parse(example["table"]), parse(example["play"])
    matta = int(example["matta"]) if "matta" in example else None
    sets = captures.options(rules, table, card, matta=matta)
    expected = example["takes"].split("|") if example["takes"] != "nothing" else []
    assert sorted(map(sorted, sets)) == sorted(sorted(cards.split()) for cards in expected)
    if "scopa" in example:
        last = example.get("last") == "yes"
        assert sweeps(rules, table, card, sets[0], matta, last) == (example["scopa"] == "yes")


def sweeps(
    rules: Rules,
    table: tuple[str, ...],
    card: str,
    take: tuple[str, ...],
    matta: int | None,
    last: bool,
) -> bool:
    """Whether a capture in that position is a scopa."""
    rest = [other for other in DECK if other not in (*table, card)]
    hands = ((card,), *((() if last else (rest[0],)) for _ in range(rules.players - 1)))
    position = deal.Deal(
        rules=rules,
        dealer=rules.players - 1,
        deck=(),
        batch=1,
        turn=1,
        to_play=0,
        hands=hands,
        table=table,
        piles=((),) * rules.players,
        sweeps=(),
        plays=(),
        last_taker=None,
        stock=0,
        matta=deal.Named(value=matta, seat=0) if matta else None,
    )
    return deal.outcome(position, card, take).scopa


def check_count(rules: Rules, example: Example) -> None:
    """`pile N`, `scope N` → `points N`."""
    sides = range(rules.sides)
    piles = [parse(example.get(f"pile {side}", "")) for side in sides]
    scope = [
        [tuple(map(int, one.split(" of "))) for one in example[f"scope {side}"].split(",")]
        if f"scope {side}" in example
        else []
        for side in sides
    ]
    counted = count(rules, piles, scope, None)  # type: ignore[arg-type]
    for side in sides:
        points = ", ".join(f"{item} {number}" for item, number in counted[side].points.items())
        assert sorted(points.split(", ")) == sorted(example[f"points {side}"].split(", "))


def check_declarations(rules: Rules, example: Example) -> None:
    """`hand` → `declares`."""
    found = [
        f"{one.kind} {one.points}" + (f" as {one.matta}" if one.matta else "")
        for one in declare.declarations(rules, parse(example["hand"]))
    ]
    assert found == [text.strip() for text in example["declares"].split("|")]


def check_opening(rules: Rules, example: Example) -> None:
    """`opening` → `is`."""
    table = parse(example["opening"])
    if example["is"] == "void":
        assert deal.is_void(rules, table)
        return
    assert not deal.is_void(rules, table)
    assert opening.scope(rules, table) == int(example["is"].split()[0])


def check_end(rules: Rules, example: Example) -> None:
    """`totals` → `winner`."""
    side = winner(rules, [int(text) for text in example["totals"].split()], None)
    assert ("nobody" if side is None else str(side)) == example["winner"]


CHECKS: dict[str, Callable[[Rules, Example], None]] = {
    "play": check_play,
    "pile 0": check_count,
    "hand": check_declarations,
    "opening": check_opening,
    "totals": check_end,
}


@pytest.mark.parametrize("example", examples())
def test_an_example_is_true(example: Example) -> None:
    (check,) = [CHECKS[key] for key in CHECKS if key in example]
    check(rules_of(example), example)


def test_every_variant_has_its_page_with_an_example() -> None:
    pages = {page.stem for page in PAGES.glob("*.md")} - {"README"}
    assert pages == set(PRESETS)
    for name in pages:
        assert "```scopa\n" in (PAGES / f"{name}.md").read_text(encoding="utf-8")


def test_the_tables_are_up_to_date() -> None:
    filled = runpy.run_path(str(PAGES / "make.py"))["filled"]
    for page in PAGES.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert filled(text, page.stem) == text, f"{page.name}: run make docs"

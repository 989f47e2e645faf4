"""Deals as text: whatever was written is read back, and what can't be read is told by line."""

from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from scopa_protocol.history import HandDeclared, HistoryDeal, ShownCard, SweptOpening
from scopa_protocol.notation import COLUMNS, read_deals, write_deal
from scopa_protocol.rules import Rules
from scopa_protocol.views import Count, LeftoverCards, Proof, SideCount
from support.records import a_deal
from support.wire import DECK, HISTORY_DEAL

NUMBERS = st.integers(-(2**53), 2**53)
CARDS = st.lists(st.sampled_from(DECK), max_size=40)
TEXTS = st.text(max_size=12)
BOUNDS = {
    "players": (2, 6),
    "sides": (2, 6),
    "hand": (1, 20),
    "napola_cap": (3, 10),
    "target": (1, 101),
}


def values(field: str, kind: Any) -> st.SearchStrategy[Any]:
    """Anything that a rule can be."""
    if get_args(kind) and get_origin(kind) is not None and isinstance(get_args(kind)[0], str):
        return st.sampled_from(get_args(kind))
    if field in BOUNDS:
        return st.integers(*BOUNDS[field])
    return {bool: st.booleans(), int: NUMBERS}.get(kind, TEXTS)


RULES = st.builds(
    Rules, **{field: values(field, kind) for field, kind in get_type_hints(Rules).items()}
)
DECKS = st.one_of(TEXTS, CARDS.map(",".join), st.permutations(DECK).map(",".join))
PROOFS = st.builds(Proof, salt=TEXTS, deck=DECKS)
SIDES = st.builds(
    SideCount,
    cards=NUMBERS,
    coins=NUMBERS,
    primiera=st.none() | NUMBERS,
    scope=NUMBERS,
    points=st.dictionaries(TEXTS, NUMBERS, max_size=12),
    total=NUMBERS,
    pile=CARDS,
)
COUNTS = st.builds(
    Count,
    deal=NUMBERS,
    sides=st.lists(SIDES, max_size=4),
    totals=st.lists(NUMBERS, max_size=6),
    leftovers=st.none() | st.builds(LeftoverCards, side=NUMBERS, cards=CARDS),
    proof=PROOFS,
)
DEALS = st.builds(
    HistoryDeal,
    deal=NUMBERS,
    match=NUMBERS,
    void=st.booleans(),
    dealer=NUMBERS,
    rules=RULES,
    first_card=st.none()
    | st.builds(ShownCard, seat=NUMBERS, card=st.sampled_from(DECK), kept=st.booleans()),
    deals=st.lists(st.lists(CARDS, max_size=4), max_size=3),
    table=CARDS,
    opening_swept=st.none() | st.builds(SweptOpening, side=NUMBERS, cards=CARDS, scope=NUMBERS),
    declared=st.lists(
        st.builds(
            HandDeclared,
            batch=NUMBERS,
            seat=NUMBERS,
            kind=TEXTS,
            cards=CARDS,
            matta=st.none() | NUMBERS,
            points=NUMBERS,
        ),
        max_size=3,
    ),
    plays=st.lists(st.tuples(NUMBERS, st.sampled_from(DECK), CARDS, st.booleans()), max_size=6),
    count=st.none() | COUNTS,
    proof=PROOFS,
)


@given(st.lists(DEALS, max_size=3))
def test_whatever_is_written_is_read_back(deals: list[HistoryDeal]) -> None:
    text = "".join(map(write_deal, deals))
    assert read_deals(text) == deals
    assert read_deals(text.replace("\n", "\r\n")) == deals
    assert not [line for line in text.splitlines() if line != line.strip()]


@given(DEALS)
def test_spaces_comments_and_empty_lines_do_not_matter(deal: HistoryDeal) -> None:
    text = write_deal(deal).replace("\n", "\t  # a # comment\n\n   ")
    assert read_deals(f"\ufeff# a file\n  {text}") == [deal]


@given(st.text())
def test_any_other_text_is_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"^line [0-9]+: "):
        read_deals(f"deal 1\n{text}")


def test_a_real_deal_has_short_lines() -> None:
    for line in write_deal(a_deal()).splitlines():
        assert len(line) <= COLUMNS
    assert read_deals(write_deal(HISTORY_DEAL)) == [HISTORY_DEAL]


def test_a_play_is_one_line() -> None:
    deal = structs.replace(
        HISTORY_DEAL, plays=[(2, "5D", ["2C", "3S"], True), (0, "7B", [], False)]
    )
    text = write_deal(deal)
    assert "\n1. 2 5D x 2C 3S !\n2. 0 7B\n" in text


def test_cards_may_be_typed_in_either_case() -> None:
    [deal] = read_deals("DEAL 1\nmatch 1\nDealer 0\n1. 0 7d X 3c 4s\n")
    assert deal.plays == [(0, "7D", ["3C", "4S"], False)]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("dealer 1", "line 1: a deal begins with its number, as in: deal 3"),
        ("deal 1", "line 1: deal 1 has no line for its match"),
        ("deal 1\nmatch 1", "line 1: deal 1 has no line for its dealer"),
        ("deal x", 'line 1: "x" is no number'),
        ("deal", "line 1: one word belongs behind deal"),
        ("deal=1", "line 1: a line begins with what it is about, as in: dealer 1"),
        ("deal 1\n\nhand 0 7D", "line 3: a batch begins with its number, as in: batch 1"),
        ("deal 1\nbatch 2", "line 2: batch 1 is the next"),
        ("deal 1\nbatch 1\nhand 1 7D", "line 3: 0 is the next, not 1"),
        ("deal 1\nbatch 1\nhand", "line 3: a number belongs behind hand"),
        ("deal 1\ntable 11D", 'line 2: "11D" is no card'),
        ("deal 1\nmatch 1\nmatch 2", "line 3: match stands twice"),
        ("deal 1\nrules target=11 target=12", "line 2: target= stands twice"),
        ("deal 1\nrules target=11\nrules target=12", "line 3: target= stands twice"),
        ("deal 1\nrules target", "line 2: a rule is written KEY=VALUE"),
        ("deal 1\nrules taget=11", 'line 2: there is no rule "taget"'),
        ("deal 1\nrules target=500", 'line 2: target can\'t be "500"'),
        ("deal 1\nrules grande=perhaps", "line 2: grande is true or false"),
        ("deal 1\n2. 0 7D", "line 2: turn 1 is the next"),
        ("deal 1\n1. 0 7D 3C", "line 2: a play is written: 17. 2 5D x 2C 3S !"),
        ("deal 1\n1. 0 7D x", "line 2: a play is written"),
        ("deal 1\nfirst seat=0 5B", "line 2: a first card is written"),
        ("deal 1\nswept side=1 7D", "line 2: scope= is missing"),
        ("deal 1\nvoid yes", "line 2: nothing belongs behind void"),
        ("deal 1\nside 1", "line 2: side 0 is the next"),
        ("deal 1\npile 0 7D", "line 2: side 0 must come before its pile"),
        ("deal 1\nside 0 cards=1 coins=1 scope=0 total=0\npoints 0 x", "line 3: points are"),
        ("deal 1\ndance 0", 'line 2: a line can\'t begin with "dance"'),
        ('deal 1\nvariant "x', "line 2: what follows can't be read"),
        ('deal 1\nvariant "\\x"', "line 2: the quoted text isn't written as in JSON"),
        ("deal 1\ndeck text=a\ndeck text=b", "line 3: deck stands twice"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(lines: str, words: str) -> None:
    with pytest.raises(ValueError, match=r"^line ") as wrong:
        read_deals(lines)
    assert str(wrong.value).startswith(words)


def test_the_example_of_the_page_is_a_deal() -> None:
    page = (Path(__file__).parents[2] / "docs" / "notation.md").read_text(encoding="utf-8")
    example = page.split("```text\n")[1].split("```")[0]
    [deal] = read_deals(example)
    assert deal == a_deal("scopone", seed=2)
    plain = [line.partition("#")[0].rstrip() for line in example.splitlines()]
    assert "\n".join(line for line in plain if line) + "\n" == write_deal(deal)

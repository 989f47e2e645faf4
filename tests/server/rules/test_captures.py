"""What a card may take, against the vectors and a plain reading of the rulebook."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scopa_server.rules.captures import check, listing, options
from scopa_server.rules.cards import DECK, parse
from scopa_server.rules.record import Rules, build
from support import vectors
from support.games import any_rules

Cards = frozenset[str]


def as_sets(found: Sequence[Sequence[str]]) -> set[Cards]:
    sets = {frozenset(cards) for cards in found}
    assert len(sets) == len(found), "an option is listed twice"
    return sets


def can_take(rules: Rules, table: Sequence[str], card: str, *, matta: int | None = None) -> bool:
    forced = replace(rules, must_capture=True)
    return check(forced, (card,), table, card, (), matta) == "must_capture"


def is_legal(
    rules: Rules, table: Sequence[str], card: str, take: Sequence[str], *, matta: int | None = None
) -> bool:
    return check(rules, (card,), table, card, take, matta) is None


@pytest.mark.parametrize("case", vectors.load("captures"), ids=vectors.name)
def test_vectors(case: dict[str, Any]) -> None:
    rules = build(case["variant"], case["rules"])
    table, card, matta = case["table"], case["card"], case["matta"]
    found = options(rules, table, card, matta=matta)
    assert as_sets(found) == as_sets(case["options"])
    assert can_take(rules, table, card, matta=matta) == bool(case["options"])
    for take in found:
        assert is_legal(rules, table, card, take, matta=matta)


def subsets(table: Sequence[str]) -> Iterator[Cards]:
    for size in range(len(table) + 1):
        for cards in combinations(table, size):
            yield frozenset(cards)


def by_the_book(rules: Rules, table: Sequence[str], card: str, matta: int | None) -> set[Cards]:
    """Read "A turn" sentence by sentence, trying every subset of the table."""

    def worth(one: str) -> int:
        return matta if one == "7C" and matta is not None else int(one[:-1])

    def total(cards: Cards) -> int:
        return sum(worth(one) for one in cards)

    played = worth(card)
    some = [cards for cards in subsets(table) if cards]
    equal, sums, fifteens, sweeps = set[Cards](), set[Cards](), set[Cards](), set[Cards]()
    if rules.capture in ("sum", "sum_or_fifteen"):
        equal = {cards for cards in some if len(cards) == 1 and total(cards) == played}
        sums = {cards for cards in some if len(cards) >= 2 and total(cards) == played}
    if rules.capture in ("fifteen", "sum_or_fifteen"):
        fifteens = {cards for cards in some if total(cards) + played == 15}
    if rules.ace_sweeps and played == 1:
        aces = {frozenset({one}) for one in table if worth(one) == 1}
        equal = set()
        if aces and rules.ace_on_ace == "takes_ace":
            sweeps = aces
        elif table:
            sweeps = {frozenset(table)}
    if rules.equal_first and equal:
        sums = set()
    adding_up = sums | fifteens
    if rules.fewest and adding_up:
        fewest = min(len(cards) for cards in adding_up)
        adding_up = {cards for cards in adding_up if len(cards) == fewest}
    return equal | adding_up | sweeps


@st.composite
def positions(draw: st.DrawFn, most: int = 8) -> tuple[Rules, list[str], str, int | None]:
    rules = draw(any_rules())
    # Low cards make more sums.
    low = st.sampled_from([one for one in DECK if int(one[:-1]) <= 5 or one == "7C"])
    cards = draw(
        st.lists(st.one_of(low, st.sampled_from(DECK)), min_size=1, max_size=most + 1, unique=True)
    )
    matta = draw(st.one_of(st.none(), st.integers(1, 10)))
    return rules, cards[1:], cards[0], matta


@settings(max_examples=300, deadline=None)
@given(positions())
def test_options_are_those_of_the_rulebook(
    position: tuple[Rules, list[str], str, int | None],
) -> None:
    rules, table, card, matta = position
    book = by_the_book(rules, table, card, matta)
    found = options(rules, table, card, matta=matta)
    assert as_sets(found) == book
    assert [len(take) for take in found] == sorted(len(take) for take in found)
    assert can_take(rules, table, card, matta=matta) == bool(book)


@settings(max_examples=150, deadline=None)
@given(positions(most=7))
def test_what_is_offered_is_accepted_and_nothing_else(
    position: tuple[Rules, list[str], str, int | None],
) -> None:
    rules, table, card, matta = position
    offered = as_sets(options(rules, table, card, matta=matta))
    for take in subsets(table):
        refusal = check(rules, (card,), table, card, tuple(take), matta)
        if take:
            assert refusal == (None if take in offered else "illegal_capture")
        else:
            assert refusal == ("must_capture" if offered and rules.must_capture else None)


@settings(max_examples=150, deadline=None)
@given(positions(most=14), st.integers(0, 12))
def test_limit_lists_the_first_ones(
    position: tuple[Rules, list[str], str, int | None], limit: int
) -> None:
    rules, table, card, matta = position
    whole = options(rules, table, card, matta=matta)
    assert options(rules, table, card, matta=matta, limit=limit) == whole[:limit]


@settings(max_examples=50, deadline=None)
@given(positions(most=10))
def test_listing_is_the_options_of_each_card(
    position: tuple[Rules, list[str], str, int | None],
) -> None:
    rules, table, _, matta = position
    hand = [card for card in DECK if card not in table][:10]
    assert listing(rules, hand, table, matta=matta) == {
        card: options(rules, table, card, matta=matta) for card in hand
    }


SCOPA = build("scopa", {})


def refusal(hand: str, table: str, card: str, take: str) -> str | None:
    return check(SCOPA, parse(hand), parse(table), card, parse(take))


def test_refusals_in_order() -> None:
    assert refusal("7D", "4S", "6C", "5B") == "not_in_hand"
    assert refusal("7D", "4S", "7D", "3B") == "not_on_table"
    assert refusal("7D", "7S", "7D", "7S 7S") == "not_on_table"
    assert refusal("7D", "3B 4S", "7D", "") == "must_capture"
    assert refusal("7D", "3B 4S", "7D", "3B") == "illegal_capture"
    assert refusal("7D", "3B 4S", "7D", "4S 3B") is None
    assert refusal("7D 2C", "3B 4S", "2C", "") is None


def test_laying_is_free_where_capture_is_not_a_must() -> None:
    rules = build("scopa", {"must_capture": False})
    assert check(rules, ("7D",), ("7S",), "7D", ()) is None


def test_lone_ace_that_makes_fifteen_with_the_rest_is_offered_once() -> None:
    rules = build("scopa", {"capture": "fifteen", "ace_sweeps": True, "ace_on_ace": "sweeps"})
    assert options(rules, parse("10D 4C"), "1S") == [("10D", "4C")]


@pytest.mark.parametrize(
    ("capture", "table", "card", "matta"),
    [
        ("sum", "1D 1C 1S 1B 7C", "5D", 1),
        ("sum", "2D 2C 2S 2B 7C", "10D", 2),
        ("fifteen", "2D 2C 2S 2B 7C 1D", "4D", 2),
    ],
)
def test_a_matta_is_the_fifth_of_a_value(capture: str, table: str, card: str, matta: int) -> None:
    rules, cards = build("scopa", {"capture": capture}), parse(table)
    assert cards in options(rules, cards, card, matta=matta)
    assert check(rules, (card,), cards, card, cards, matta) is None


@pytest.mark.parametrize("capture", ["sum", "fifteen", "sum_or_fifteen"])
def test_ace_that_sweeps_aces_too_takes_none_alone(capture: str) -> None:
    rules = build("scopa", {"capture": capture, "ace_sweeps": True, "ace_on_ace": "sweeps"})
    assert not is_legal(rules, parse("1D 9C"), "1S", ("1D",))
    assert is_legal(rules, parse("1D 9C"), "1S", parse("9C 1D"))
    assert is_legal(rules, parse("1D"), "1S", ("1D",))


LOW = tuple(card for card in DECK if int(card[:-1]) <= 5)


def ways(values: Sequence[int], total: int) -> int:
    """How many subsets have a sum."""
    found = [1] + [0] * total
    for value in values:
        for reached in range(total, value - 1, -1):
            found[reached] += found[reached - value]
    return found[total]


@pytest.mark.parametrize("capture", ["sum", "fifteen", "sum_or_fifteen"])
@pytest.mark.parametrize("card", ["1D", "6C", "10D"])
def test_everything_of_twenty_low_cards_is_listed(capture: str, card: str) -> None:
    rules = build("scopa", {"capture": capture, "equal_first": False})
    table = tuple(one for one in LOW if one != card)
    worth = int(card[:-1])
    totals = {"sum": {worth}, "fifteen": {15 - worth}, "sum_or_fifteen": {worth, 15 - worth}}
    values = [int(one[:-1]) for one in table]
    found = as_sets(options(rules, table, card))
    assert len(found) == sum(ways(values, total) for total in totals[capture])
    assert {sum(int(one[:-1]) for one in taken) for taken in found} == totals[capture]

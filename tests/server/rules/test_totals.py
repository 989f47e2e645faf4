"""The ways to make a total."""

from itertools import product

import pytest

from scopa_server.rules.totals import BARRED, CAPTURES, Partition


def counts(way: Partition) -> tuple[int, ...]:
    numbers = dict(way.parts)
    return tuple(numbers.get(value, 0) for value in range(1, 11))


def ways_by_trial(total: int) -> set[tuple[int, ...]]:
    numbers = [range(min(5, total // value) + 1) for value in range(1, 11)]
    return {
        tried
        for tried in product(*numbers)
        if sum(value * number for value, number in enumerate(tried, 1)) == total
    }


@pytest.mark.parametrize("value", range(5, 11))
def test_fifteens(value: int) -> None:
    ways = CAPTURES["fifteen"][value].partitions
    assert {counts(way) for way in ways} == ways_by_trial(15 - value)
    assert len(ways) == len(set(ways))


@pytest.mark.parametrize("value", range(1, 11))
def test_sums_take_two_cards_or_more(value: int) -> None:
    ways = CAPTURES["sum"][value].partitions
    one = tuple(int(other == value) for other in range(1, 11))
    assert {counts(way) for way in ways} == ways_by_trial(value) - {one}


@pytest.mark.parametrize("capture", CAPTURES)
def test_ways_come_fewest_cards_first(capture: str) -> None:
    for totals in CAPTURES[capture]:
        sizes = [way.size for way in totals.partitions]
        assert sizes == sorted(sizes)
        assert sizes == [sum(counts(way)) for way in totals.partitions]


@pytest.mark.parametrize("capture", CAPTURES)
def test_one_card_of_each_value_is_known_as_such(capture: str) -> None:
    for totals in CAPTURES[capture]:
        for way in totals.partitions:
            assert bool(way.singles) == (max(counts(way)) == 1)
            assert not way.singles or way.parts == tuple((value, 1) for value in way.singles)


def test_barred_sums_leave_the_fifteens() -> None:
    assert BARRED["sum"][8].partitions == ()
    assert BARRED["sum_or_fifteen"][8] == CAPTURES["fifteen"][8]

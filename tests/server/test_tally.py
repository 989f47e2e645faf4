"""Plain numbers, as the registry reads them."""

import pytest
from prometheus_client import CollectorRegistry, Histogram, generate_latest

from scopa_server.tally import Spread, Tallies, Tally

BOUNDS = (0, 0.001, 1, 2.5)
VALUES = (0, -1, 0.0005, 0.001, 0.5, 1, 1.5, 2.5, 2.6, 100)


def test_a_tally_is_read_as_a_counter() -> None:
    registry = CollectorRegistry()
    tally = Tally("plays", "Cards played", registry)
    tally.count += 3
    assert registry.get_sample_value("plays_total") == 3


def test_tallies_are_read_with_their_labels() -> None:
    registry = CollectorRegistry()
    tallies = Tallies("plays", "Cards played", ["suit", "value"], registry)
    tallies.counts["coins", "7"] += 2
    tallies.counts["cups", "7"] += 1
    assert registry.get_sample_value("plays_total", {"suit": "coins", "value": "7"}) == 2
    assert registry.get_sample_value("plays_total", {"suit": "cups", "value": "7"}) == 1


@pytest.mark.parametrize("values", [VALUES, ()])
def test_a_spread_is_read_as_the_librarys_own_histogram(values: tuple[float, ...]) -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    spread = Spread("seconds", "Time it took", BOUNDS, ours)
    histogram = Histogram("seconds", "Time it took", buckets=BOUNDS, registry=theirs)
    for value in values:
        spread.add(value)
        histogram.observe(value)
    lines = [line for line in generate_latest(theirs).splitlines() if b"_created" not in line]
    assert generate_latest(ours).splitlines() == lines

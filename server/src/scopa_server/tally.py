"""Counters and histograms for what happens too often to take a lock each time. One thread counts.

They are plain numbers, made into metrics only when somebody asks for them.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric


class Tally:
    """A counter."""

    def __init__(self, name: str, documentation: str, registry: CollectorRegistry) -> None:
        self._name = name
        self._documentation = documentation
        self.count = 0
        registry.register(self)

    def collect(self) -> Iterable[Metric]:
        """Give the count, as the registry asks."""
        yield CounterMetricFamily(self._name, self._documentation, value=self.count)


class Tallies:
    """A counter for each combination of its labels' values."""

    def __init__(
        self, name: str, documentation: str, labels: Sequence[str], registry: CollectorRegistry
    ) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = labels
        self.counts: defaultdict[tuple[str, ...], int] = defaultdict(int)
        registry.register(self)

    def collect(self) -> Iterable[Metric]:
        """Give the counts, as the registry asks."""
        family = CounterMetricFamily(self._name, self._documentation, labels=self._labels)
        for values, count in tuple(self.counts.items()):
            family.add_metric(values, count)
        yield family


class Spread:
    """A histogram: how many values were at most each of `bounds`, which rise."""

    def __init__(
        self,
        name: str,
        documentation: str,
        bounds: Sequence[float],
        registry: CollectorRegistry,
    ) -> None:
        self._name = name
        self._documentation = documentation
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        registry.register(self)

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def collect(self) -> Iterable[Metric]:
        """Give the histogram, as the registry asks."""
        bounds = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        buckets = list(zip(bounds, accumulate(self._counts), strict=True))
        yield HistogramMetricFamily(
            self._name, self._documentation, buckets=buckets, sum_value=self._sum
        )

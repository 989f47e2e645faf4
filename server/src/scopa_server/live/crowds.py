"""Connections of one seat, or of all who watch, counted over all processes alike.

No clock that processes share says which connection is older. So each gets a number above all that
its process has heard of: whoever counts later puts them in the same order, and each process closes
those of its own that are too many.

A process that died seems to hold its connections for a while yet. So where there are too many only
those of a process count that has heard of the newest since it came.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct

Number: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]
Mark: TypeAlias = tuple[Number, str]
"""A connection's number and process: of two the higher came later."""
WATCHERS: Final = ""
"""The group of those who watch; the others are named by the hash of their seat's token."""


class Crowd(Struct, frozen=True):
    """One group. `here`: numbers at this process; `there`: at others; `heard`: what these know."""

    process: str
    here: Sequence[int]
    there: Mapping[str, Sequence[int]]
    heard: Mapping[str, Mark]
    takes: int

    @property
    def newest(self) -> Mark:
        """Who came last."""
        return max(self._marks(self.there), default=(0, ""))

    @property
    def is_full(self) -> bool:
        """Whether there are as many as may be, if all are still there."""
        return self._size >= self.takes

    @property
    def is_too_big(self) -> bool:
        """Whether there are more than may be, if all are still there."""
        return self._size > self.takes

    @property
    def _size(self) -> int:
        return len(self.here) + sum(map(len, self.there.values()))

    def surplus(self, *, oldest: bool) -> frozenset[int]:
        """Which here have to go: of too many the `oldest`, or the newest."""
        if not self.is_too_big:
            return frozenset()
        newest = self.newest
        sure = {name: self.there[name] for name, mark in self.heard.items() if mark >= newest}
        marks = sorted(self._marks(sure), reverse=not oldest)
        many = max(0, len(marks) - self.takes)
        return frozenset(number for number, process in marks[:many] if process == self.process)

    def _marks(self, there: Mapping[str, Sequence[int]]) -> list[Mark]:
        all_of_them = {**there, self.process: self.here}
        return [(number, name) for name, numbers in all_of_them.items() for number in numbers]

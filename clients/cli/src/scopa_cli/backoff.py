"""How long to wait before the next try: longer each time, never all clients at once."""

import random
from collections.abc import Callable, Iterator
from typing import Final

FIRST: Final = 0.5
LONGEST: Final = 30.0


def delays(chance: Callable[[], float] = random.random) -> Iterator[float]:
    """Seconds to wait before each next try, for ever."""
    step = FIRST
    while True:
        yield step * (0.5 + chance() / 2)
        step = min(step * 2, LONGEST)

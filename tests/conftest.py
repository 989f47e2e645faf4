"""What any test may need."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture
def as_from_a_terminal() -> Iterator[None]:
    """SIGHUP means something to what is started, though the tests may run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)

"""How many files the server may open."""

import resource

import pytest
from structlog.testing import capture_logs

from scopa_server import open_files


class Limits:
    """The limits of a process, as the system keeps them."""

    def __init__(self, soft: int, hard: int) -> None:
        self.kept = soft, hard

    def get(self, which: int) -> tuple[int, int]:
        """Both."""
        assert which == resource.RLIMIT_NOFILE
        return self.kept

    def set(self, which: int, limits: tuple[int, int]) -> None:
        """Change them as anybody may."""
        assert which == resource.RLIMIT_NOFILE
        assert limits[1] == self.kept[1]
        self.kept = limits


@pytest.fixture
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Limits:
    """Limits that are no process's."""
    kept = Limits(*request.param)
    monkeypatch.setattr(resource, "getrlimit", kept.get)
    monkeypatch.setattr(resource, "setrlimit", kept.set)
    return kept


@pytest.mark.parametrize(
    ("limits", "after", "warned"),
    [
        ((1024, 20_000), 1000 + open_files.SPARE, False),
        ((1024, resource.RLIM_INFINITY), 1000 + open_files.SPARE, False),
        ((4096, 4096), 4096, False),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), resource.RLIM_INFINITY, False),
        ((300, 1200), 1200, True),
    ],
    indirect=["limits"],
)
def test_connections_have_their_files(limits: Limits, after: int, warned: bool) -> None:
    with capture_logs() as logged:
        open_files.allow(1000)
    assert limits.kept[0] == after
    assert bool(logged) is warned

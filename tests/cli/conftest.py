"""What the client's tests take from their surroundings: nothing."""

import pytest


@pytest.fixture(autouse=True)
def a_plain_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same locale and settings, whoever runs the tests."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("PYTHONUTF8", "1")
    for name in ("NO_COLOR", "TERM", "SCOPA_SERVER", "SCOPA_NAME", "SCOPA_KEY", "SCOPA_PASSCODE"):
        monkeypatch.delenv(name, raising=False)

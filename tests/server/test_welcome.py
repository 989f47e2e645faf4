"""What the server says once it is up."""

import sys
from pathlib import Path

import pytest

from scopa_server.welcome import own_address, welcome


def test_a_table_is_opened_with_the_client_that_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.chdir(tmp_path)
    assert "  scopa host --server ws://a:1\n" in welcome("ws://0.0.0.0:1", "ws://a:1")
    assert "  scopa join INVITE " in welcome("ws://0.0.0.0:1", "ws://a:1")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "scopa").touch()
    assert "  .venv/bin/scopa host --server" in welcome("ws://0.0.0.0:1", "ws://a:1")
    assert "  .venv/bin/scopa join INVITE " in welcome("ws://0.0.0.0:1", "ws://a:1")
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/scopa")
    assert "  scopa host --server" in welcome("ws://0.0.0.0:1", "ws://a:1")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "192.168.1.20", "scopa.example.org"])
def test_an_address_that_was_chosen_is_told_as_it_is(host: str) -> None:
    assert own_address(host) == host


def test_of_every_network_one_address_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Probe:
        def __init__(self, *_: object) -> None:
            pass

        def __enter__(self) -> "Probe":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def connect(self, where: tuple[str, int]) -> None:
            if ":" in where[0]:
                raise OSError(101, "Network is unreachable")

        def getsockname(self) -> tuple[str, int]:
            return "192.168.1.20", 40000

    monkeypatch.setattr("socket.socket", Probe)
    assert own_address("0.0.0.0") == "192.168.1.20"  # noqa: S104 - nothing is opened
    assert own_address("::") == "::"

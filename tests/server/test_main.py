"""The command `scopa-server`, from outside where it matters."""

import errno
import os
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from scopa_server.__main__ import main
from scopa_server.config import Config
from scopa_server.startup import CannotStart, cannot_listen

ROOT = Path(__file__).parents[2]
SLOW = {
    "asyncio",
    "websockets",
    "hiredis",
    "redis",
    "prometheus_client",
    "structlog",
    "msgspec",
    "dataclasses",
}


def run(
    *argv: str, flags: tuple[str, ...] = (), **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, *flags, "-m", "scopa_server", *argv],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=30,
        check=False,
    )


def serving(monkeypatch: pytest.MonkeyPatch, run: Callable[[Config], int]) -> None:
    """Put something else in the place of the server itself."""
    app = ModuleType("scopa_server.app")
    app.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "scopa_server.app", app)
    # What was imported by another test is found in its package.
    monkeypatch.setattr("scopa_server.app", app, raising=False)


@pytest.mark.parametrize("flag", ["-V", "--version"])
def test_version_is_the_distribution_s(flag: str) -> None:
    project = tomllib.loads((ROOT / "server" / "pyproject.toml").read_text())["project"]
    done = run(flag)
    assert (done.returncode, done.stdout) == (0, f"scopa-server {project['version']}\n")


def test_help_is_shown() -> None:
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: scopa-server [options]\n")


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_nothing_slow_is_imported_to_show_it(flag: str) -> None:
    done = run(flag, flags=("-X", "importtime"))
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "scopa_server" in imported
    assert not imported & SLOW


def test_wrong_options_are_refused() -> None:
    done = run("--port", "hunter2")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "scopa-server: --port must be a number from 0 to 65535 (0 = any free port)\n"
    )


@pytest.mark.parametrize("number", ["2", "two"])
def test_a_worker_without_a_supervisor_is_a_slip_of_the_pen(number: str) -> None:
    done = run("--worker", number)
    assert done.returncode == 2
    assert done.stderr == ("scopa-server: there is no option --worker; did you mean --workers?\n")


def test_a_wrong_variable_is_refused() -> None:
    done = run(SCOPA_ADMIN_PORT="none")
    assert done.returncode == 2
    assert done.stderr.startswith("scopa-server: SCOPA_ADMIN_PORT must be ")
    assert done.stderr.count("\n") == 1


def test_the_server_is_run_with_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Config] = []
    serving(monkeypatch, lambda config: asked.append(config) or 7)  # type: ignore[func-returns-value]
    assert main(["--port", "0"]) == 7
    assert asked[0].port == 0


def test_what_stops_it_from_starting_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(config: Config) -> int:
        raise CannotStart("the store is in use")

    serving(monkeypatch, fails)
    assert main([]) == 1
    assert capsys.readouterr() == ("", "scopa-server: the store is in use\n")


def test_an_interrupt_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(config: Config) -> int:
        raise KeyboardInterrupt

    serving(monkeypatch, interrupted)
    assert main([]) == 130


@pytest.mark.parametrize(
    ("error", "admin", "words"),
    [
        (OSError(errno.EADDRINUSE, "x"), False, "port 80 on ::1 is in use: stop what uses it"),
        (OSError(errno.EADDRINUSE, "x"), True, "choose another port with --admin-port"),
        (OSError(errno.EACCES, "x"), False, "choose a port from 1024 upwards with --port"),
        (OSError(errno.EADDRNOTAVAIL, "x"), True, "no address ::1: choose one it has"),
        (socket.gaierror(-2, "x"), False, "0.0.0.0, with --host"),
        (OSError("odd"), False, "port 80 on ::1 can't be opened: see --host and --port"),
    ],
)
def test_a_port_that_can_t_be_had_is_explained(error: OSError, admin: bool, words: str) -> None:
    assert words in str(cannot_listen(error, "::1", 80, admin=admin))


def test_a_fault_of_ours_is_told_without_its_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def faulty(config: Config) -> int:
        raise KeyError("hunter2")

    serving(monkeypatch, faulty)
    assert main([]) == 1
    told = capsys.readouterr().err
    assert "please report it" in told
    assert "KeyError" in told
    assert "in faulty" in told
    assert "hunter2" not in told.replace('raise KeyError("hunter2")', "")

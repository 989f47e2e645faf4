"""A Docker daemon to rehearse on, a folder of our own, and commands that can't run for ever."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM

ROOT = Path(__file__).parents[2]
FORWARD = Path("/proc/sys/net/ipv4/ip_forward")


class Failed(Exception):
    """The rehearsal didn't go as it should; the message says what, and what to do."""


def say(line: str) -> None:
    """Tell the person who watches."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def is_root() -> bool:
    """Whether processes in containers can be killed from outside."""
    return os.geteuid() == 0


class Machine:
    """Runs commands with one environment; every one has a limit in seconds."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.folder = folder
        self.environ = dict(environ)

    def run(self, *words: str, limit: float = 60, text: str | None = None) -> str:
        """What a command prints. Raises Failed."""
        status, out, errors = self.attempt(*words, limit=limit, text=text)
        if status:
            why = (errors or out).strip()[-2000:] or f"status {status}, and no word"
            raise Failed(f"{' '.join(words)}: {why}")
        return out

    def attempt(
        self, *words: str, limit: float = 60, text: str | None = None
    ) -> tuple[int, str, str]:
        """A command's exit status, its output and its errors."""
        try:
            done = subprocess.run(
                words,
                env=self.environ,
                cwd=self.folder,
                input=text or "",
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except FileNotFoundError:
            return 127, "", f"there is no {words[0]} here"
        except subprocess.TimeoutExpired:
            return 124, "", f"no end within {limit:.0f} s"
        return done.returncode, done.stdout, done.stderr

    def becomes(self, what: str, true: Callable[[], bool], limit: float = 60) -> float:
        """Wait until something is so; seconds that it took. Raises Failed."""
        start = time.monotonic()
        while not true():
            if time.monotonic() > start + limit:
                raise Failed(f"not within {limit:.0f} s: {what}")
            time.sleep(0.2)
        return time.monotonic() - start


@contextmanager
def docker(machine: Machine) -> Iterator[None]:
    """The daemon that answers, or one of our own while this lasts."""
    status, out, errors = machine.attempt("docker", "version", "--format", "{{.Server.Version}}")
    if not status:
        say(f"Docker {out.strip()} answers and is used.")
        yield
        return
    if not is_root() or shutil.which("dockerd") is None:
        raise Failed(f"no Docker daemon ({errors.strip()}), and none of our own without root")
    with _forwarding_kept(machine), _daemon(machine):
        yield


@contextmanager
def _daemon(machine: Machine) -> Iterator[None]:
    folder = machine.folder / "docker"
    folder.mkdir()
    address = f"unix://{folder}/socket"
    words = ["--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec"]
    words += ["--pidfile", f"{folder}/pid", "--host", address]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(["dockerd", *words], stdout=log, stderr=log)
    try:
        machine.environ["DOCKER_HOST"] = address
        machine.becomes(
            "dockerd answers",
            lambda: process.poll() is not None or not machine.attempt("docker", "version")[0],
        )
        if process.poll() is not None:
            raise Failed(f"dockerd ended: {(folder / 'log').read_text()[-1000:]}")
        driver = machine.run("docker", "info", "--format", "{{.ServerVersion}}, {{.Driver}}")
        say(f"No Docker daemon answers; one of our own does: {driver.strip()}.")
        yield
    finally:
        process.send_signal(SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        machine.attempt("ip", "link", "delete", "docker0")


@contextmanager
def _forwarding_kept(machine: Machine) -> Iterator[None]:
    """A daemon leaves its packet filter behind; this puts back what was there."""
    families = ("iptables", "ip6tables")
    rules = {family: machine.attempt(f"{family}-save")[1] for family in families}
    forwarding = FORWARD.read_text()
    try:
        yield
    finally:
        for family in families:
            for table in ("filter", "nat"):
                if f"*{table}" not in rules[family]:
                    _emptied(machine, family, table)
            machine.attempt(f"{family}-restore", text=rules[family])
        FORWARD.write_text(forwarding)


def _emptied(machine: Machine, family: str, table: str) -> None:
    for flag in ("--flush", "--delete-chain"):
        machine.attempt(family, "--table", table, flag)
    if table == "filter":
        machine.attempt(family, "--policy", "FORWARD", "ACCEPT")

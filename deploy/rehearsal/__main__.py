"""`make deploy-test`: build, start, play a match through faults, back up, restore, stop.

Uses the Docker daemon that answers, or starts one of its own (as root); fetches the usual images,
or makes stand-ins of Debian's packages. Everything it makes bears a name of its own and is removed.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

from rehearsal import checks, files, table, unit
from rehearsal.checks import EXIT, HEALTH, ensure, healthy, inspect
from rehearsal.compose import SERVERS, Compose, composed
from rehearsal.images import images
from rehearsal.machine import ROOT, Failed, Machine, docker, is_root, say

LIMIT = 1800
"""Seconds that all of it may take."""


def main() -> int:
    """Exit status: 0 if everything is as promised."""
    options = _options()
    signal.signal(signal.SIGALRM, _too_long)
    signal.signal(signal.SIGTERM, _too_long)
    signal.alarm(LIMIT)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="scopa-rehearsal-") as folder:
        name = Path(folder).name.lower().replace("_", "")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("SCOPA_", "COMPOSE_"))}
        machine = Machine(Path(folder), clean)
        try:
            with docker(machine), images(machine, name, options.base):
                rehearse(machine, name, options.authorities)
        except Failed as fault:
            say(f"The rehearsal failed: {fault}")
            return 1
    say(f"Everything is as promised, and nothing is left; {time.monotonic() - start:.0f} s.")
    return 0


def rehearse(machine: Machine, name: str, authorities: Path | None) -> None:
    """Everything, in turn."""
    tree = machine.folder / "tree"
    copied(machine, tree)
    files.check(machine, tree)
    if authorities is not None:
        shutil.copy(authorities, tree / "deploy/ca.pem")
    machine.run(str(tree / "deploy/make-secrets"))
    with composed(machine, name, tree) as compose:
        compose("build", "server", limit=600)
        checks.image(machine, f"{name}/server", authorities)
        alone(machine, name)
        unit.rehearse(machine, name)
        compose.up()
        seconds = machine.becomes("the servers are healthy", lambda: serving(compose))
        say(f"Everything is up; both servers healthy {seconds:.0f} s after that.")
        compose.trust()
        checks.containers(compose)
        if not is_root():
            say("Not root: containers are killed and started by docker, not by their restart rule.")
        invite = table.play(compose)
        restored(compose, invite)
        stopped(compose)


def copied(machine: Machine, tree: Path) -> None:
    """Copy the files that git knows or would take, as a fresh clone would have them."""
    git = ["git", "-C", str(ROOT), "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    listed = machine.run(*git, "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)


def alone(machine: Machine, name: str) -> None:
    """The image without anything else: a SQLite file in a volume, a read-only root."""
    box = volume = f"{name}-alone"
    flags = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
    flags += ["--volume", f"{volume}:/data", "--name", box]
    try:
        machine.run("docker", "run", "--detach", *flags, f"{name}/server")
        machine.becomes(
            "the image alone is healthy", lambda: inspect(machine, HEALTH, box) == "healthy"
        )
        begun = time.monotonic()
        machine.run("docker", "stop", "--time", "20", box)
        seconds = time.monotonic() - begun
        ensure(inspect(machine, EXIT, box) == "0", "the image alone stops by itself")
        say(f"The image alone serves with SQLite; docker stop took {seconds:.1f} s, status 0.")
    finally:
        machine.attempt("docker", "rm", "--force", box)
        machine.attempt("docker", "volume", "rm", volume)


def restored(compose: Compose, invite: str) -> None:
    """A backup, everything lost, the restore, and the room is there again."""
    machine = compose.machine
    archive = machine.folder / "backup.tar"
    machine.environ["COMPOSE"] = compose.program
    begun = time.monotonic()
    machine.run(str(compose.tree / "deploy/backup"), str(archive), limit=180)
    ensure(not archive.stat().st_mode & 0o077, "a backup is its owner's alone")
    middle = time.monotonic()
    compose("down", "--volumes")
    lost = time.monotonic()
    machine.run(str(compose.tree / "deploy/restore"), str(archive), limit=180)
    took = time.monotonic() - lost
    compose.trust()
    table.still_there(compose, invite)
    say(f"Backup {middle - begun:.1f} s, restore {took:.1f} s: the match is there again.")


def serving(compose: Compose) -> bool:
    """Whether every server says that it is ready."""
    return all(healthy(compose, service) for service in SERVERS)


def stopped(compose: Compose) -> None:
    """Everything stops by itself within its grace."""
    boxes = {service: compose.container(service) for service in (*SERVERS, "redis", "proxy")}
    begun = time.monotonic()
    compose("stop")
    seconds = time.monotonic() - begun
    for service, box in boxes.items():
        ensure(inspect(compose.machine, EXIT, box) == "0", f"{service} stops by itself")
    say(f"Stopping everything took {seconds:.1f} s; every status is 0.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make deploy-test", description=__doc__)
    parser.add_argument(
        "--base", type=Path, help="a tar archive of Debian 12 with python3-venv, for stand-ins"
    )
    parser.add_argument(
        "--authorities",
        type=Path,
        default=os.environ.get("PIP_CERT") or None,
        help="certificates that pip trusts while the image is built [PIP_CERT]",
    )
    return parser.parse_args()


def _too_long(number: int, _: FrameType | None) -> None:
    late = number == signal.SIGALRM
    raise Failed(f"no end within {LIMIT} s" if late else "it was told to stop")


if __name__ == "__main__":
    sys.exit(main())

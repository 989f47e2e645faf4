"""The images that docker-compose.yml names: the usual ones, or stand-ins of Debian's packages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rehearsal.machine import Failed, Machine, is_root, say

USUAL = {
    "PYTHON_IMAGE": "python:3.11-slim-bookworm",
    "REDIS_IMAGE": "redis:7.2-bookworm",
    "CADDY_IMAGE": "caddy:2",
}
PULL_SECONDS = 120
INSTALL = "RUN apt-get update -q && apt-get install -y -q --no-install-recommends"
STAND_INS = {
    "REDIS_IMAGE": f"{INSTALL} redis-server && install -d -o redis -g redis /data",
    "CADDY_IMAGE": f"{INSTALL} caddy && mkdir -p /data /config\n"
    "ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config",
}


@contextmanager
def images(machine: Machine, name: str, base: Path | None) -> Iterator[None]:
    """Sets the variables that name the images; what was made for it is removed afterwards.

    `base`: an archive of a Debian with python3-venv, so that it isn't fetched anew.
    """
    if base is None and _pulled(machine):
        say(f"The images are the usual ones: {', '.join(USUAL.values())}.")
        machine.environ |= USUAL
        yield
        return
    made: list[str] = []
    try:
        _stand_ins(machine, name, base or _debian(machine), made)
        yield
    finally:
        for image in reversed(made):
            machine.attempt("docker", "rmi", "--force", image)


def _pulled(machine: Machine) -> bool:
    for image in USUAL.values():
        if machine.attempt("docker", "image", "inspect", image)[0]:
            status, _, errors = machine.attempt("docker", "pull", image, limit=PULL_SECONDS)
            if status:
                why = (errors.strip().splitlines() or ["no reason was given"])[-1]
                say(f"{image} can't be fetched ({why}).")
                return False
    return True


def _debian(machine: Machine) -> Path:
    """An archive of Debian 12 with Python 3.11, made of its packages."""
    if not is_root() or shutil.which("debootstrap") is None:
        raise Failed("stand-ins for the images need root and debootstrap")
    say("Making stand-ins of Debian's packages; this takes some minutes.")
    tree, archive = machine.folder / "debian", machine.folder / "debian.tar"
    wanted = "--include=python3,python3-venv"
    machine.run("debootstrap", "--variant=minbase", wanted, "bookworm", str(tree), limit=900)
    for what in ("var/cache/apt/archives", "var/lib/apt/lists"):
        shutil.rmtree(tree / what)
    machine.run("tar", "--directory", str(tree), "--create", "--file", str(archive), ".")
    shutil.rmtree(tree)
    return archive


def _stand_ins(machine: Machine, name: str, archive: Path, made: list[str]) -> None:
    python = f"{name}/python"
    machine.run("docker", "import", str(archive), python, limit=120)
    made.append(python)
    machine.environ["PYTHON_IMAGE"] = python
    context = machine.folder / "stand-ins"
    context.mkdir()
    for variable, recipe in STAND_INS.items():
        image = f"{name}/{variable.partition('_')[0].lower()}"
        (context / "Dockerfile").write_text(f"FROM {python}\n{recipe}\n")
        machine.run("docker", "build", "--quiet", "--tag", image, str(context), limit=300)
        made.append(image)
        machine.environ[variable] = image
    say(f"Stand-ins for {', '.join(USUAL.values())}:")
    for command in ("python3 --version", "redis-server --version", "caddy version"):
        image = next(i for i in made if i.rpartition("/")[2][:5] == command[:5])
        say(f"  {machine.run('docker', 'run', '--rm', image, *command.split()).strip()}")

"""What is promised of the containers, looked at from inside and outside."""

import json
import tarfile
from fnmatch import fnmatch
from pathlib import Path

from rehearsal.compose import SERVERS, Compose
from rehearsal.machine import Failed, Machine, say

NO_PROGRAMS = ("*.py", "*.so", "*.so.*")
"""Files that may be marked as programs and are read by Python or the loader."""
MADE_BY_DOCKER = ("etc/hostname", "etc/hosts", "etc/resolv.conf", "dev/*", ".dockerenv")
HEALTH = "{{.State.Health.Status}}"
EXIT = "{{.State.ExitCode}}"
LEFT = (
    *("*.whl", "*/ca.pem", "*/pip/*", "*/pip-*", "*/hatchling/*", "*/.cache/*"),
    *("src/*", "wheels/*", "build/*"),
)
SETTING_ANOTHER_USER = 0o6000
NOT_FOUND = 127
"""The exit status where there is no such program."""
USER = "import os; print(os.getuid())"
WRITING = "open('/written', 'w')"
AUTH = "REDISCLI_AUTH=$(cut -d' ' -f2 /run/secrets/redis.conf)"
METRICS = """
import urllib.request
print(urllib.request.urlopen("http://127.0.0.1:9765/metrics").read().decode())
"""


def ensure(true: bool, what: str) -> None:
    """Raises Failed if something isn't so."""
    if not true:
        raise Failed(f"not so: {what}")


def inspect(machine: Machine, form: str, name: str, kind: str = "container") -> str:
    """What Docker says of something."""
    return machine.run("docker", kind, "inspect", "--format", form, name).strip()


def healthy(compose: Compose, service: str) -> bool:
    """Whether a container's health check says so."""
    return inspect(compose.machine, HEALTH, compose.container(service)) == "healthy"


def image(machine: Machine, name: str, authorities: Path | None) -> None:
    """Nothing but Python, the server and what they load is in it. Raises Failed."""
    size = int(inspect(machine, "{{.Size}}", name, "image")) / 1e6
    files = [member for member in _files(machine, name) if member.isfile()]
    programs = {file.name for file in files if file.mode & 0o111 and not _is(file, NO_PROGRAMS)}
    others = {one for one in programs if not fnmatch(Path(one).name, "python3.*")}
    ensure(others == {"opt/scopa/bin/scopa-server"}, f"no other program: {sorted(others)}")
    rights = [file.name for file in files if file.mode & SETTING_ANOTHER_USER]
    ensure(not rights, f"no program that changes its user: {rights}")
    left = [file.name for file in files if _is(file, LEFT)]
    ensure(not left, f"no wheel, cache, build tool or certificate left: {left}")
    run = ("docker", "run", "--rm", "--entrypoint")
    status, _, errors = machine.attempt(*run, "sh", name)
    ensure(status == NOT_FOUND, f"no shell is found: {errors}")
    asks = "import os; print(os.waitstatus_to_exitcode(os.system(':')))"
    found = machine.run(*run, "python", name, "-c", asks).strip()
    ensure(found == str(NOT_FOUND), f"nor does Python find one: {found}")
    used = "with this machine's certificates for pip" if authorities else "without a certificate"
    say(f"The image is built {used}: {size:.0f} MB, no shell, {len(programs)} programs.")


def _files(machine: Machine, name: str) -> list[tarfile.TarInfo]:
    """What an image holds, less what Docker adds for a container."""
    box, archive = f"{name.partition('/')[0]}-held", machine.folder / "held.tar"
    try:
        machine.run("docker", "create", "--name", box, name)
        machine.run("docker", "export", "--output", str(archive), box)
    finally:
        machine.attempt("docker", "rm", box)
    with tarfile.open(archive) as held:
        members = [member for member in held if not _is(member, MADE_BY_DOCKER)]
    archive.unlink()
    return members


def _is(file: tarfile.TarInfo, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(file.name, pattern) for pattern in patterns)


def containers(compose: Compose) -> None:
    """Users, file systems, passwords and networks are as they should be. Raises Failed."""
    for service in (*SERVERS, "redis", "proxy"):
        _confined(compose, service)
    for service in SERVERS:
        ensure(compose.python(USER, service=service).strip() != "0", f"{service} isn't root")
    ensure(compose.within("redis", "id", "-u").strip() != "0", "Redis isn't root")
    ensure("NOAUTH" in compose.within("redis", "redis-cli", "ping"), "Redis asks for a password")
    settings = compose.within("redis", "sh", "-c", f"{AUTH} redis-cli config get 'append*'")
    ensure("always" in settings.split(), "every commit is on disk before it is told")
    apart = _networks(compose, "redis") & _networks(compose, "proxy")
    ensure(not apart, "the proxy doesn't reach Redis")
    for path in ("/metrics", "/readyz", "/"):
        ensure(compose.page(path) == 404, f"{path} isn't served to the world")
    ensure("scopa_commits_total" in compose.python(METRICS), "metrics are served inside")
    compose.within("server", "scopa-server", "rooms", "list")
    say("Users, read-only roots, passwords, networks and pages are as promised.")


def _networks(compose: Compose, service: str) -> set[str]:
    form = "{{json .NetworkSettings.Networks}}"
    return set(json.loads(inspect(compose.machine, form, compose.container(service))))


def _confined(compose: Compose, service: str) -> None:
    machine, box = compose.machine, compose.container(service)
    shown = inspect(machine, "{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}}", box)
    ensure(shown == "true [ALL]", f"{service} has a read-only root and no rights")
    settings = inspect(machine, "{{json .Config.Env}} {{json .Args}}", box)
    password = (compose.tree / "deploy/secrets/redis.conf").read_text().split()[1]
    ensure(password not in settings, f"no password in the settings of {service}")
    ensure(password not in compose("logs", "--no-color", service), f"nor in its log: {service}")
    writes = ("python", "-c", WRITING) if service in SERVERS else ("sh", "-c", "echo >/written")
    errors = machine.attempt("docker", "exec", "--user", "0", box, *writes)[2]
    ensure("Read-only file system" in errors, f"{service} can't write to its root: {errors}")

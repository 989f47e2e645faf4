"""What is promised of the containers, looked at from inside and outside."""

import json
from pathlib import Path

from rehearsal.compose import SERVERS, Compose
from rehearsal.machine import Failed, Machine, say

TOOLS = ("gcc", "cc", "g++", "make")
HEALTH = "{{.State.Health.Status}}"
EXIT = "{{.State.ExitCode}}"
LEFT = "-name ca.pem -o -name '*.whl' -o -name 'pip-*' -o -path '*/.cache/*'"
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


def image(machine: Machine, name: str, base: str, authorities: Path | None) -> None:
    """Nothing but the server was added to the base. Raises Failed."""
    before, after = (int(inspect(machine, "{{.Size}}", one, "image")) for one in (base, name))
    shell = ("docker", "run", "--rm", "--user", "0", "--entrypoint", "sh", name, "-c")
    tools = machine.attempt(*shell, "; ".join(f"command -v {tool}" for tool in TOOLS))[1]
    ensure(not tools, f"no compiler in the image: {tools}")
    left = machine.run(
        *shell, f"find /opt/scopa /root /src /build /wheels {LEFT} 2>/dev/null; true"
    )
    ensure(not left, f"no wheel, cache or certificate left in the image: {left}")
    packages = machine.run(*shell, "ls /opt/scopa/lib/python3*/site-packages")
    ensure("hatchling" not in packages, "no build tool in the image")
    used = "with this machine's certificates for pip" if authorities else "without a certificate"
    say(f"The image is built {used}: {after / 1e6:.0f} MB, {(after - before) / 1e6:.0f} MB ours.")


def containers(compose: Compose) -> None:
    """Users, file systems, passwords and networks are as they should be. Raises Failed."""
    for service in (*SERVERS, "redis", "proxy"):
        _confined(compose, service)
    for service in (*SERVERS, "redis"):
        ensure(compose.within(service, "id", "-u").strip() != "0", f"{service} isn't root")
    ensure("NOAUTH" in compose.within("redis", "redis-cli", "ping"), "Redis asks for a password")
    settings = compose.within("redis", "sh", "-c", f"{AUTH} redis-cli config get 'append*'")
    ensure("always" in settings.split(), "every commit is on disk before it is told")
    apart = _networks(compose, "redis") & _networks(compose, "proxy")
    ensure(not apart, "the proxy doesn't reach Redis")
    for path in ("/metrics", "/readyz", "/"):
        ensure(compose.page(path) == 404, f"{path} isn't served to the world")
    ensure("scopa_commits_total" in compose.python(METRICS), "metrics are served inside")
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
    status = machine.attempt("docker", "exec", "--user", "0", box, "sh", "-c", "echo > /written")[0]
    ensure(status != 0, f"{service} can't write to its root")

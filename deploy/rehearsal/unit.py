"""The systemd unit, started by a systemd in a container."""

import socket
import time

from rehearsal.checks import ensure
from rehearsal.compose import free_port
from rehearsal.machine import Failed, Machine, say
from rehearsal.match import person

RECIPE = """
FROM {server} AS server
FROM {base}
RUN apt-get update -q && apt-get install -y -q --no-install-recommends \\
    systemd systemd-sysv dbus sqlite3 redis-server && systemctl disable redis-server
COPY --from=server /opt/scopa /opt/scopa
COPY scopa-server.service /etc/systemd/system/
RUN mkdir /etc/scopa && echo SCOPA_HOST=0.0.0.0 >/etc/scopa/server.env && \\
    systemctl enable scopa-server
# As on a machine, what is mounted is to be seen everywhere: credentials are.
CMD ["sh", "-c", "mount --make-rshared / && exec /lib/systemd/systemd"]
"""
RIGHTS = ("SYS_ADMIN", "NET_ADMIN", "SYS_PTRACE", "DAC_READ_SEARCH")
NEEDS = [f"--cap-add={right}" for right in RIGHTS]
NEEDS += ["--security-opt=seccomp=unconfined", "--cgroupns=host", "--tmpfs=/run:exec"]
NEEDS += ["--tmpfs=/tmp", "--volume=/sys/fs/cgroup:/sys/fs/cgroup:rw"]
NAME = "scopa-server"
BACKUP = """
(umask 077; sqlite3 /var/lib/scopa/scopa.db ".backup '/var/backups/scopa-backup.db'")
stat --format %a /var/backups/scopa-backup.db
"""
RESTORE = """
rm -f /var/lib/scopa/scopa.db*
cp /var/backups/scopa-backup.db /var/lib/scopa/scopa.db
chown --reference=/var/lib/scopa/ /var/lib/scopa/scopa.db
"""
KEY = "a-key-that-hosting-asks-for"
OTHERWISE = f"""
redis-server --daemonize yes --bind 127.0.0.1 --save '' >/dev/null
umask 077
echo {KEY} >/etc/scopa/access-key
cat >>/etc/scopa/server.env <<END
SCOPA_STORE=redis://127.0.0.1:6379/0
SCOPA_ACCESS_KEY_FILE=/run/credentials/scopa-server.service/access-key
END
sed -i 's/^#LoadCredential=/LoadCredential=/' /etc/systemd/system/scopa-server.service
systemctl daemon-reload
"""
"""What the unit's files offer to those who want it otherwise."""


def rehearse(machine: Machine, name: str) -> None:
    """Start it, play, kill it, stop it; says so where no systemd runs in a container."""
    image = box = f"{name}-systemd"
    context = machine.folder / "systemd"
    context.mkdir()
    recipe = RECIPE.format(server=f"{name}/server", base=machine.environ["PYTHON_IMAGE"])
    (context / "Dockerfile").write_text(recipe)
    unit = (machine.folder / "tree/deploy/systemd/scopa-server.service").read_text()
    (context / "scopa-server.service").write_text(unit)
    try:
        machine.run("docker", "build", "--quiet", "--tag", image, str(context), limit=300)
        port = free_port()
        ports = f"--publish=127.0.0.1:{port}:8765"
        words = ["docker", "run", "--detach", "--name", box, *NEEDS, ports, image]
        status, _, errors = machine.attempt(*words)
        if status or not _runs(machine, box):
            why = errors or machine.attempt("docker", "logs", "--tail", "5", box)[1]
            say(f"NOT RUN: the systemd unit, since no systemd starts here: {why.strip()}")
            return
        _try(machine, box, port)
    finally:
        machine.attempt("docker", "rm", "--force", box)
        machine.attempt("docker", "rmi", "--force", image)


def _runs(machine: Machine, box: str) -> bool:
    """Whether a systemd has started everything within a minute."""
    words = ("docker", "exec", box, "systemctl", "is-system-running")
    try:
        machine.becomes("", lambda: machine.attempt(*words)[1].strip() in {"running", "degraded"})
    except Failed:
        return False
    return True


def _try(machine: Machine, box: str, port: int) -> None:
    def systemctl(*words: str) -> str:
        return machine.run("docker", "exec", box, "systemctl", *words).strip()

    def shown(what: str) -> str:
        return systemctl("show", "--property", what, "--value", NAME)

    path = f"/etc/systemd/system/{NAME}.service"
    machine.run("docker", "exec", box, "systemd-analyze", "verify", path)
    machine.becomes("the unit serves", lambda: _answers(port))
    _bots_play(machine, port)
    pid = shown("MainPID")
    status = machine.run("docker", "exec", box, "cat", f"/proc/{pid}/status").split("\n")
    ensure("CapEff:\t0000000000000000" in status, "the unit has no rights")
    ensure("NoNewPrivs:\t1" in status, "the unit gets no new rights")
    ensure(not any(line.startswith("Uid:\t0\t") for line in status), "the unit isn't root")
    rooms = _rooms(machine, box)
    ensure(rooms == "1", f"the room is in the unit's file: {rooms}")
    mode = machine.run("docker", "exec", box, "sh", "-euc", BACKUP).strip()
    ensure(mode == "600", f"a backup of the unit's file is its owner's alone: {mode}")
    systemctl("kill", "--signal=KILL", NAME)
    begun = time.monotonic()
    machine.becomes("the unit is started again", lambda: shown("NRestarts") == "1")
    machine.becomes("the unit serves again", lambda: _answers(port))
    again = time.monotonic() - begun
    begun = time.monotonic()
    systemctl("stop", NAME)
    ensure((shown("Result"), shown("ExecMainStatus")) == ("success", "0"), "the unit stops")
    stopped = time.monotonic() - begun
    machine.run("docker", "exec", box, "sh", "-euc", RESTORE)
    systemctl("start", NAME)
    machine.becomes("the unit serves what was restored", lambda: _answers(port))
    ensure(_rooms(machine, box) == rooms, "the rooms are there again")
    _try_otherwise(machine, box, port)
    say(
        f"The systemd unit: a match played, served {again:.1f} s after kill -9, stopped in "
        f"{stopped:.1f} s with status 0, its backup put back, then a Redis and a key in use."
    )


def _try_otherwise(machine: Machine, box: str, port: int) -> None:
    """Rooms in a Redis, hosting with a key."""
    machine.run("docker", "exec", box, "sh", "-euc", OTHERWISE)
    machine.run("docker", "exec", box, "systemctl", "restart", NAME)
    machine.becomes("the unit serves as server.env says", lambda: _answers(port))
    try:
        _bots_play(machine, port, "--key", "another-key")
    except Failed:
        _bots_play(machine, port, "--key", KEY)
    else:
        raise Failed("anybody may host at the unit, whatever key they bring")
    kept = machine.run("docker", "exec", box, "redis-cli", "dbsize").strip()
    ensure(kept != "0", "rooms are in the Redis that server.env names")


def _rooms(machine: Machine, box: str) -> str:
    """The rooms in the unit's file."""
    asks = ("sqlite3", "-readonly", "/var/lib/scopa/scopa.db", "SELECT count(*) FROM rooms")
    return machine.run("docker", "exec", box, *asks).strip()


def _bots_play(machine: Machine, port: int, *more: str) -> None:
    """A short match of one client with a bot."""
    quick = ["--rule", "target=1", "--setting", "pace_ms=0", "next_deal_seconds=0"]
    words = ["host", "--players", "2", "--bots", "1", *quick, "--autoplay", "--once"]
    words += ["--server", f"ws://127.0.0.1:{port}", "--name", "Carla", *more]
    with person(words, machine.folder / "Carla", machine.environ) as carla:
        carla.ends(60)
        carla.tells("( won the match)")


def _answers(port: int) -> bool:
    """Whether a server says why it doesn't take what is no handshake."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as line:
            line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return bool(line.recv(1))
    except OSError:
        return False

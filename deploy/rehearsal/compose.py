"""The compose file, under a name and at ports of its own."""

import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rehearsal.machine import Failed, Machine, say

SERVERS = ("server", "server2")
AUTHORITY = "/data/caddy/pki/authorities/local/root.crt"


def free_port() -> int:
    """A port of this machine that nothing listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


class Compose:
    """docker-compose on a copy of the checkout."""

    def __init__(self, machine: Machine, name: str, tree: Path) -> None:
        self.machine = machine
        self.tree = tree
        self.port = free_port()
        self.url = f"wss://localhost:{self.port}"
        self.authority = machine.folder / "authority.pem"
        self.program = self._program()
        machine.environ |= {
            "COMPOSE_PROJECT_NAME": name,
            "SCOPA_IMAGE": f"{name}/server",
            "SCOPA_ADDRESS": f"localhost:{self.port}",
            "BIND": "127.0.0.1",
            "HTTPS_PORT": str(self.port),
            "HTTP_PORT": str(free_port()),
        }

    def _program(self) -> str:
        for program in ("docker-compose", "docker compose"):
            status, out, _ = self.machine.attempt(*program.split(), "version", "--short")
            if not status:
                say(f"The compose file is read by {program} {out.strip()}.")
                return program
        raise Failed("there is neither docker-compose nor docker compose")

    @property
    def words(self) -> list[str]:
        """How a command for it begins."""
        return [*self.program.split(), "--file", str(self.tree / "docker-compose.yml")]

    def __call__(self, *words: str, limit: float = 120, text: str | None = None) -> str:
        """What a subcommand prints. Raises Failed."""
        return self.machine.run(*self.words, *words, limit=limit, text=text)

    def up(self, *words: str) -> None:
        """Start what doesn't run."""
        self("up", "--detach", *words)

    def container(self, service: str) -> str:
        """The container that runs a service."""
        return self("ps", "--quiet", service).strip()

    def within(self, service: str, *words: str) -> str:
        """What a command prints inside a service's container."""
        return self("exec", "-T", service, *words)

    def python(self, code: str, *words: str, service: str = "server") -> str:
        """What Python prints inside a server's container."""
        return self.within(service, "python", "-c", code, *words)

    def page(self, path: str) -> int:
        """The status of a page at the proxy, whose authority is trusted."""
        trusted = ssl.create_default_context(cafile=str(self.authority))
        address = f"https://localhost:{self.port}{path}"
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusted)
        )
        try:
            with opener.open(address, timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def trust(self) -> None:
        """Fetch the certificate of the authority that Caddy made for localhost."""
        self.machine.becomes("Caddy has a certificate", self._has_authority)

    def _has_authority(self) -> bool:
        words = ("exec", "-T", "proxy", "cat", AUTHORITY)
        status, out, _ = self.machine.attempt(*self.words, *words)
        self.authority.write_text(out)
        return not status


@contextmanager
def composed(machine: Machine, name: str, tree: Path) -> Iterator[Compose]:
    """Everything that the compose file names, removed afterwards with its volumes and image."""
    compose = Compose(machine, name, tree)
    try:
        yield compose
    finally:
        machine.attempt(*compose.words, "down", "--volumes", "--timeout", "5", limit=120)
        machine.attempt("docker", "rmi", "--force", f"{name}/server")

"""The compose file, the image's recipe and what they name."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from scopa_server.config import parse
from scopa_server.options import OPTIONS, file_of

ROOT = Path(__file__).parents[2]
VARIABLES = {option.variable for option in OPTIONS} | {
    file_of(option.variable) for option in OPTIONS if option.secret
}
SERVERS = ["server", "server2"]
OWN = {"SCOPA_ADDRESS", "SCOPA_IMAGE"}
"""What the compose file reads itself; the server never sees it."""


def text(name: str) -> str:
    """A file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The compose file."""
    loaded: dict[str, Any] = yaml.safe_load(text("docker-compose.yml"))
    return loaded


def test_old_programs_read_it(compose: dict[str, Any]) -> None:
    known = {"services", "networks", "volumes", "secrets", "x-common"}
    assert compose.keys() == known
    new = {"develop", "attach", "provider", "models", "gpus", "post_start", "pre_stop"}
    for service in compose["services"].values():
        assert not service.keys() & new
        assert all(isinstance(one, str) for one in service.get("secrets", []))
        assert all(isinstance(one, str) for one in service.get("volumes", []))
    # Nor does docker-compose 1.29 know a default within a default.
    assert not re.search(r"\$\{[^}]*\$\{", text("docker-compose.yml"))


def test_settings_are_the_servers(compose: dict[str, Any]) -> None:
    given = compose["services"]["server"]["environment"]
    assert compose["services"]["server2"] == compose["services"]["server"]
    assert given.keys() <= VARIABLES
    told = {name: "" if "$" in value else value for name, value in given.items()}
    del told["SCOPA_STORE_FILE"]
    assert parse([], told).warnings == ()


def test_every_file_secret_network_and_volume_exists(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert set(service.get("secrets", [])) <= compose["secrets"].keys()
        assert set(service["networks"]) <= compose["networks"].keys()
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (ROOT / source).is_file()
    assert (ROOT / compose["services"]["server"]["build"]["dockerfile"]).is_file()


def test_every_container_is_confined(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["restart"] == "unless-stopped"
    # Only the servers are where Redis is, and only the proxy is where the world is.
    at_redis = {n for n, s in compose["services"].items() if "store" in s["networks"]}
    assert at_redis == {*SERVERS, "redis"}
    assert compose["networks"]["store"]["internal"] is True
    assert [n for n, s in compose["services"].items() if "ports" in s] == ["proxy"]


def test_every_server_is_asked_how_it_is_started_and_stopped(compose: dict[str, Any]) -> None:
    proxy = text("deploy/Caddyfile")
    asked = re.search(r"reverse_proxy (.*) {", proxy)
    assert asked
    assert asked[1].split() == [f"{name}:8765" for name in SERVERS]
    assert re.search(r"EXPOSE 8765 (\d+)", text("deploy/Dockerfile"))
    assert "health_port 9765" in proxy
    assert compose["services"]["proxy"]["depends_on"] == SERVERS
    for script in ("deploy/backup", "deploy/restore"):
        assert f"stop {' '.join(SERVERS)} redis" in text(script)


def test_what_can_be_set_is_in_the_example() -> None:
    read = set(re.findall(r"\$\{([A-Z_]+)", text("docker-compose.yml")))
    offered = set(re.findall(r"^#?([A-Z_]+)=", text("deploy/env.example"), re.MULTILINE))
    assert offered <= read
    assert read - offered == {"SCOPA_IMAGE", "SCOPA_LOG_LEVEL"}
    assert {name for name in read if name.startswith("SCOPA_")} <= VARIABLES | OWN


def test_the_store_is_kept_safely() -> None:
    conf = dict(line.split(maxsplit=1) for line in settings(text("deploy/redis.conf")))
    assert conf["appendonly"] == "yes"
    assert conf["appendfsync"] == "always"
    assert conf["maxmemory-policy"] == "noeviction"
    assert conf["include"] == "/run/secrets/redis.conf"


def settings(conf: str) -> list[str]:
    """The lines of a redis.conf that say something."""
    return [line for line in conf.splitlines() if line and not line.startswith("#")]


# The image


def test_the_image_is_made_of_files_that_exist() -> None:
    recipe = text("deploy/Dockerfile").replace("\\\n", " ")
    copied = [
        source
        for line in recipe.splitlines()
        if line.startswith("COPY ") and "--from=" not in line
        for source in line.split()[1:-1]
    ]
    assert copied == [
        *("requirements/run.txt", "deploy/ca.pe[m]", "protocol", "server", "deploy/gather.py"),
    ]
    sent = {line[1:] for line in text(".dockerignore").splitlines() if line.startswith("!")}
    assert sent == {name.replace("[m]", "m") for name in copied}
    assert not (ROOT / "deploy/Dockerfile").read_text().startswith("# syntax")


def test_the_image_has_no_shell() -> None:
    recipe = text("deploy/Dockerfile").replace("\\\n", " ")
    last = recipe[recipe.rindex("\nFROM ") :].strip().splitlines()
    assert last[0] == "FROM scratch"
    # Whatever runs in the last stage, or in its containers, would need a shell.
    assert not [line for line in last if line.startswith(("RUN", "SHELL", "ADD"))]
    brought = [line.split()[-2:] for line in last if line.startswith("COPY")]
    assert brought == [["/image", "/"], ["/owned", "/"]]
    assert f"gather.py {brought[0][0]} " in recipe
    for start in ("CMD [", "ENTRYPOINT ["):
        assert recipe.count(start) == recipe.count(start.removesuffix(" [")) == 1


def test_the_image_checks_what_it_fetches_and_is_not_root() -> None:
    recipe = text("deploy/Dockerfile")
    assert "--require-hashes" in recipe
    assert re.search(r"^USER \d+:\d+$", recipe, re.MULTILINE)
    assert "/readyz" in recipe
    environment = re.findall(r"\b(SCOPA_[A-Z_]+)=(\S+)", recipe)
    assert parse([], dict(environment)).host == "0.0.0.0"  # noqa: S104


def test_what_is_secret_is_never_committed() -> None:
    ignored = text(".gitignore").splitlines()
    assert {"/.env", "/deploy/secrets/", "/deploy/ca.pem"} <= set(ignored)


@pytest.mark.parametrize("name", ["backup", "make-secrets", "restore"])
def test_a_script_can_be_run(name: str) -> None:
    assert os.access(ROOT / "deploy" / name, os.X_OK)

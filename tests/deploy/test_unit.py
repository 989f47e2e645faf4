"""The systemd unit starts the server with options that it has."""

import re
import shlex
from pathlib import Path

from scopa_server.config import fit_to_serve, parse

FOLDER = Path(__file__).parents[2] / "deploy" / "systemd"


def _unit() -> dict[str, str]:
    lines = (FOLDER / "scopa-server.service").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if re.match(r"\w+=", line))


def _usual(unit: dict[str, str], state: Path) -> dict[str, str]:
    """The settings that `server.env` may replace: an option couldn't be."""
    words = shlex.split(unit["Environment"].replace("%S", str(state)))
    return dict(word.split("=", 1) for word in words)


def test_the_unit_starts_the_server_with_its_own_options(tmp_path: Path) -> None:
    unit = _unit()
    assert unit["ExecStart"].endswith("/bin/scopa-server")
    environment = (FOLDER / "server.env").read_text(encoding="utf-8")
    given = dict(re.findall(r"^#?(SCOPA_\w+)=(.+)$", environment, re.MULTILINE))
    key = tmp_path / "key"
    key.write_text("sesamo")
    assert given.pop("SCOPA_ACCESS_KEY_FILE").endswith("/scopa-server.service/access-key")
    assert given.pop("SCOPA_STORE").startswith("redis://")
    config = parse([], {**_usual(unit, tmp_path), **given, "SCOPA_ACCESS_KEY_FILE": str(key)})
    assert config.warnings == ()
    assert config.store == f"sqlite:{tmp_path}/{unit['StateDirectory']}/scopa.db"
    assert unit["DynamicUser"] == "yes"
    # The server tells systemd nothing.
    assert unit["Type"] == "exec"


def test_lines_for_several_machines_are_followed(tmp_path: Path) -> None:
    text = (FOLDER.parents[1] / "docs" / "deploying.md").read_text(encoding="utf-8")
    block = text.partition("`/etc/scopa/server.env`. With more than one core")[2].split("```")[1]
    given = dict(re.findall(r"^ *(SCOPA_\w+)=(.+)$", block, re.MULTILINE))
    config = parse([], {**_usual(_unit(), tmp_path), **given, "SCOPA_WORKERS": "2"})
    fit_to_serve(config)
    assert config.store == given["SCOPA_STORE"]
    assert config.warnings == ()

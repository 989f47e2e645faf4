"""The systemd unit starts the server with options that it has."""

import re
import shlex
from pathlib import Path

from scopa_server.config import parse

FOLDER = Path(__file__).parents[2] / "deploy" / "systemd"


def test_the_unit_starts_the_server_with_its_own_options(tmp_path: Path) -> None:
    lines = (FOLDER / "scopa-server.service").read_text(encoding="utf-8").splitlines()
    unit = dict(line.split("=", 1) for line in lines if re.match(r"\w+=", line))
    program, *words = shlex.split(unit["ExecStart"].replace("%S", str(tmp_path)))
    assert program.endswith("/bin/scopa-server")
    environment = (FOLDER / "server.env").read_text(encoding="utf-8")
    given = dict(re.findall(r"^#?(SCOPA_\w+)=(.+)$", environment, re.MULTILINE))
    key = tmp_path / "key"
    key.write_text("sesamo")
    assert given.pop("SCOPA_ACCESS_KEY_FILE").endswith("/scopa-server.service/access-key")
    config = parse(words, {**given, "SCOPA_ACCESS_KEY_FILE": str(key)})
    assert config.warnings == ()
    assert config.store == f"sqlite:{tmp_path}/{unit['StateDirectory']}/scopa.db"
    assert unit["DynamicUser"] == "yes"
    # The server tells systemd nothing.
    assert unit["Type"] == "exec"

"""A backup of the compose file's rooms, with a stand-in for docker-compose."""

import os
import stat
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMPOSE = """#!/bin/sh
case $1 in run) cd "$(dirname "$0")" && tar -cf - appendonlydir ;; esac
"""


def test_a_backup_is_its_owner_s_alone(tmp_path: Path) -> None:
    (tmp_path / "appendonlydir").mkdir()
    compose = tmp_path / "compose"
    compose.write_text(COMPOSE)
    compose.chmod(0o755)
    file = tmp_path / "rooms.tar"
    old = os.umask(0o022)
    try:
        subprocess.run(
            [ROOT / "deploy" / "backup", file],
            check=True,
            env={**os.environ, "COMPOSE": str(compose)},
        )
    finally:
        os.umask(old)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600

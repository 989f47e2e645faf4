"""Lines of several processes in one log: whole, whoever else writes there."""

import os
import random
import select
from pathlib import Path

import pytest

from scopa_server.log_lines import Lines

MOST = select.PIPE_BUF


def test_what_is_written_in_one_go_is_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(4)
    said = ["è" * chance.randrange(MOST // 4) for _ in range(500)] + ["long" * MOST, "", "last"]
    goes: list[bytes] = []
    write = os.write

    def noted(handle: int, data: bytes) -> int:
        goes.append(bytes(data))
        return write(handle, data)

    path = tmp_path / "log"
    with path.open("w", encoding="utf-8") as out:
        monkeypatch.setattr(os, "write", noted)
        lines = Lines(out, str)
        for line in said:
            lines.write(line)
        lines.close(10)
    assert path.read_text(encoding="utf-8").splitlines() == said
    assert all(go.endswith(b"\n") for go in goes)
    # Longer than the system takes in one go is nothing but a line that is so itself.
    assert all(len(go) <= MOST or go.count(b"\n") == 1 for go in goes)

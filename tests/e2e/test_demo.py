"""`make demo` plays a whole match with real programs."""

import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).with_name("demo.py")


def test_the_demonstration_plays_a_match_to_its_end() -> None:
    done = subprocess.run(
        [sys.executable, DEMO], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " won the match, " in done.stdout
    assert "The count of deal 1" in done.stdout
    assert "settebello" in done.stdout

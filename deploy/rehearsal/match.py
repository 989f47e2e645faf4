"""A match played by the real client, with nobody at the keyboard."""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rehearsal.machine import Failed

SCOPA = Path(sys.executable).parent / "scopa"
PLAY = re.compile(r"\S.* plays? \d+[DCSB]")

WON = "won the match"


class Person:
    """A client that plays by itself; `lines` are what it printed."""

    def __init__(self, words: Sequence[str], home: Path, environ: Mapping[str, str]) -> None:
        home.mkdir(exist_ok=True)
        self.lines: list[str] = []
        self.errors = home / "errors"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                [SCOPA, *words, "--plain", "--ascii"],
                env={**environ, "HOME": str(home), "XDG_STATE_HOME": str(home), "NO_COLOR": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def tells(self, pattern: str, limit: float = 30) -> str:
        """What the first group of a pattern is in what it printed. Raises Failed."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            for line in tuple(self.lines):
                if found := re.search(pattern, line):
                    return found.group(1)
            time.sleep(0.02)
        raise Failed(f"a client didn't print {pattern} within {limit:.0f} s: {self.words()}")

    def plays_seen(self) -> int:
        """How many cards it was told of as they were played."""
        return sum(PLAY.match(line) is not None for line in tuple(self.lines))

    def sees(self, plays: int, limit: float = 120) -> bool:
        """Wait until it was told of so many more cards; false if the match was won before.

        Raises Failed.
        """
        goal = self.plays_seen() + plays
        end = time.monotonic() + limit
        while self.plays_seen() < goal:
            if any(WON in line for line in tuple(self.lines)):
                return False
            if time.monotonic() > end or self.process.poll() is not None:
                raise Failed(f"the match doesn't go on: {self.words()}")
            time.sleep(0.02)
        return True

    def words(self) -> str:
        """The end of what it said."""
        return "\n".join([*self.lines[-5:], self.errors.read_text()[-500:]]).strip()

    def ends(self, limit: float = 180) -> None:
        """Wait until it has gone by itself. Raises Failed."""
        try:
            status = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise Failed(f"no end of the match within {limit:.0f} s: {self.words()}") from None
        self._reader.join(5)
        if status:
            raise Failed(f"a client ended with status {status}: {self.words()}")

    def stop(self) -> None:
        """End it, whatever it is doing."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join(5)
        if self.process.stdout is not None:
            self.process.stdout.close()


@contextmanager
def person(words: Sequence[str], home: Path, environ: Mapping[str, str]) -> Iterator[Person]:
    """A client that is stopped at the end."""
    somebody = Person(words, home, environ)
    try:
        yield somebody
    finally:
        somebody.stop()

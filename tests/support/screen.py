"""A small terminal: understands what the client writes, and nothing else."""

import re
from typing import Final

SEQUENCE: Final = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")


class Screen:
    """Rows of characters with a cursor; wide characters aren't told apart."""

    def __init__(self, columns: int = 80) -> None:
        self.columns = columns
        self.rows = [""]
        self.row = self.column = 0
        self.sequences: set[str] = set()
        self._half = ""

    def feed(self, text: str) -> None:
        """Draw. Raises ValueError for a control that the client has no business to send."""
        text = self._half + text
        self._half = ""
        place = 0
        while place < len(text):
            found = SEQUENCE.match(text, place)
            if found:
                self._sequence(found[1], found[2])
                place = found.end()
            elif text[place] == "\x1b":
                self._half = text[place:]
                return
            else:
                self._char(text[place])
                place += 1

    def _char(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.row += 1
            if self.row == len(self.rows):
                self.rows.append("")
        elif char < " ":
            raise ValueError(f"control {char!r}")
        else:
            self._put(char)

    def _put(self, char: str) -> None:
        if self.column >= self.columns:
            self._char("\r")
            self._char("\n")
        row = self.rows[self.row].ljust(self.column)
        self.rows[self.row] = row[: self.column] + char + row[self.column + 1 :]
        self.column += 1

    def _sequence(self, numbers: str, letter: str) -> None:
        self.sequences.add(letter)
        count = int(numbers or 1) if letter in "AC" else 0
        if letter == "J" and numbers == "":
            self.rows[self.row] = self.rows[self.row][: self.column]
            del self.rows[self.row + 1 :]
        elif letter == "C":
            self.column += count
        elif letter == "A":
            self.row = max(self.row - count, 0)
        elif letter != "m":
            raise ValueError(f"sequence {numbers}{letter}")

    @property
    def last(self) -> str:
        """The row of the cursor."""
        return self.rows[self.row].rstrip()

    @property
    def text(self) -> str:
        """All rows."""
        return "\n".join(row.rstrip() for row in self.rows)

"""The line that is being typed: pure editing, and the part of it that fits on one row."""

from collections.abc import Callable
from typing import Final

from .lines import width

KEPT_LINES: Final = 200
LONGEST: Final = 1000


class Editor:
    """One line of text with a cursor, and the lines entered before."""

    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        self._history: list[str] = []
        self._place = 0
        self._draft = ""
        self._actions: dict[str, Callable[[], None]] = {
            "left": self._left,
            "right": self._right,
            "home": self._home,
            "end": self._end,
            "word-left": self._word_left,
            "word-right": self._word_right,
            "backspace": self._backspace,
            "delete": self._delete,
            "kill-left": self._kill_left,
            "kill-right": self._kill_right,
            "kill-word": self._kill_word,
            "up": self._up,
            "down": self._down,
        }

    def enter(self, *, remember: bool = True) -> str:
        """Take the line out, and start an empty one."""
        entered = self.text
        if remember and entered.strip() and self._history[-1:] != [entered]:
            self._history = [*self._history, entered][-KEPT_LINES:]
        self._set("")
        self._place = len(self._history)
        return entered

    def press(self, key: str) -> None:
        """One key that edits."""
        if len(key) == 1:
            self._insert(key)
            return
        action = self._actions.get(key)
        if action is not None:
            action()

    def _set(self, text: str) -> None:
        self.text, self.cursor = text, len(text)

    def _insert(self, char: str) -> None:
        if len(self.text) < LONGEST:
            self.text = self.text[: self.cursor] + char + self.text[self.cursor :]
            self.cursor += 1

    def _cut(self, start: int, end: int) -> None:
        self.text = self.text[:start] + self.text[end:]
        self.cursor = start

    def _before(self) -> int:
        """Where the character before the cursor begins, marks that sit on it included."""
        place = self.cursor - 1
        while place > 0 and width(self.text[place]) == 0:
            place -= 1
        return max(place, 0)

    def _after(self) -> int:
        place = self.cursor + 1
        while place < len(self.text) and width(self.text[place]) == 0:
            place += 1
        return min(place, len(self.text))

    def _word_before(self) -> int:
        return len(self.text[: self.cursor].rstrip().rpartition(" ")[0]) + (
            1 if " " in self.text[: self.cursor].rstrip() else 0
        )

    def _word_after(self) -> int:
        rest = self.text[self.cursor :]
        space = len(rest) - len(rest.lstrip())
        word = rest.lstrip().partition(" ")[0]
        return self.cursor + space + len(word)

    def _left(self) -> None:
        self.cursor = self._before()

    def _right(self) -> None:
        self.cursor = self._after()

    def _home(self) -> None:
        self.cursor = 0

    def _end(self) -> None:
        self.cursor = len(self.text)

    def _word_left(self) -> None:
        self.cursor = self._word_before()

    def _word_right(self) -> None:
        self.cursor = self._word_after()

    def _backspace(self) -> None:
        self._cut(self._before(), self.cursor)

    def _delete(self) -> None:
        self._cut(self.cursor, self._after())

    def _kill_left(self) -> None:
        self._cut(0, self.cursor)

    def _kill_right(self) -> None:
        self._cut(self.cursor, len(self.text))

    def _kill_word(self) -> None:
        self._cut(self._word_before(), self.cursor)

    def _up(self) -> None:
        if self._place > 0:
            self._recall(self._place - 1)

    def _down(self) -> None:
        if self._place < len(self._history):
            self._recall(self._place + 1)

    def _recall(self, place: int) -> None:
        if self._place == len(self._history):
            self._draft = self.text
        self._place = place
        self._set(self._history[place] if place < len(self._history) else self._draft)


def row(prompt: str, text: str, cursor: int, columns: int) -> tuple[str, int]:
    """The one row that shows a prompt and the line around its cursor, and the cursor's column.

    A row is never full: some terminals then move on to the next.
    """
    prompt = prompt if width(prompt) <= columns // 2 else "> "
    room = columns - width(prompt) - 1
    start = 0
    while start < cursor and width(text[start:cursor]) > room - 1:
        start += 1
    end = len(text)
    while end > cursor and width(text[start:end]) > room:
        end -= 1
    return prompt + text[start:end], width(prompt) + width(text[start:cursor])

"""Bytes from a terminal to keys: a character is itself, any other key has a longer name."""

import codecs
import re
from typing import Final

NAMED: Final[dict[str, str]] = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "1~": "home",
    "7~": "home",
    "4~": "end",
    "8~": "end",
    "3~": "delete",
    "1;5C": "word-right",
    "1;5D": "word-left",
    "1;3C": "word-right",
    "1;3D": "word-left",
}
CONTROL: Final[dict[str, str]] = {
    "\n": "enter",
    "\r": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x01": "home",
    "\x05": "end",
    "\x02": "left",
    "\x06": "right",
    "\x10": "up",
    "\x0e": "down",
    "\x04": "delete-or-end",
    "\x0b": "kill-right",
    "\x15": "kill-left",
    "\x17": "kill-word",
    "\x0c": "redraw",
    "\x03": "interrupt",
}
SEQUENCE: Final = re.compile(r"\x1b(?:\[([0-9;]*[@-~])|O([A-Z]))")
STARTED: Final = re.compile(r"\x1b(?:\[[0-9;]*|O)?\Z")


class KeyReader:
    """Keeps what is half a character or half a sequence until its rest comes."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")
        self._rest = ""

    def feed(self, data: bytes) -> list[str]:
        """The keys that these bytes complete."""
        text = self._rest + self._decoder.decode(data)
        self._rest = ""
        keys: list[str] = []
        while text:
            key, text = self._next(text)
            if key:
                keys.append(key)
        return keys

    def _next(self, text: str) -> tuple[str, str]:
        if text[0] != "\x1b":
            return CONTROL.get(text[0], text[0] if text[0].isprintable() else ""), text[1:]
        found = SEQUENCE.match(text)
        if found:
            return NAMED.get(found[1] or found[2], ""), text[found.end() :]
        if STARTED.match(text):
            self._rest = text
            return "", ""
        return "", text[1:]

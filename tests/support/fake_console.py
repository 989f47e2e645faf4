"""A console that keeps what it is shown, and types when a prompt comes."""

import asyncio
from collections.abc import Callable, Iterable

from scopa_cli.lines import Line, words


class FakeConsole:
    """What a person sees; `answers` holds, by prompt, the lines they type when it appears."""

    def __init__(self, *, fancy: bool = True, answers: dict[str, list[str]] | None = None) -> None:
        self.fancy = fancy
        self.shown: list[str] = []
        self.asked: list[str] = []
        self.hidden: list[str] = []
        self.stopped = False
        self._answers = answers or {}
        self._more = asyncio.Event()
        self._on_line: Callable[[str], None] = lambda _: None
        self.end: Callable[[], None] = lambda: None

    @property
    def text(self) -> str:
        """Everything that was shown."""
        return "\n".join(self.shown)

    def show(self, lines: Iterable[Line]) -> None:
        """Keep lines."""
        self.shown += [words(line) for line in lines]
        self._more.set()

    async def sees(self, piece: str, times: int = 1) -> None:
        """Wait until something was shown, so often."""
        async with asyncio.timeout(60):
            while self.text.count(piece) < times:
                self._more.clear()
                await self._more.wait()

    def prompt(self, text: str, ask: str, *, hidden: bool = False) -> None:
        """Keep a new prompt, and answer it."""
        if self.asked[-1:] == [text]:
            return
        self.asked.append(text)
        if hidden:
            self.hidden.append(text)
        if self._answers.get(text):
            self._on_line(self._answers[text].pop(0))

    def start(self, on_line: Callable[[str], None], on_end: Callable[[], None]) -> None:
        """Type from now on."""
        self._on_line, self.end = on_line, on_end

    def stop(self) -> None:
        """Be given back."""
        self.stopped = True

    def type(self, text: str) -> None:
        """Type a line."""
        self._on_line(text)

"""What a person sits at: something that shows lines and hands over the lines that are typed."""

from collections.abc import Callable, Iterable
from typing import Protocol

from .lines import Line


class Console(Protocol):
    """A terminal with a line editor, or a plain stream of lines."""

    @property
    def fancy(self) -> bool:
        """Whether a person types at a prompt that this console draws."""
        ...

    def show(self, lines: Iterable[Line]) -> None:
        """Show lines above whatever is being typed."""

    def prompt(self, text: str, ask: str, *, hidden: bool = False) -> None:
        """What is asked for now: a short prompt, and the same as a sentence."""

    def start(self, on_line: Callable[[str], None], on_end: Callable[[], None]) -> None:
        """Hand over lines from now on; `on_end` when there can be no more."""

    def stop(self) -> None:
        """Leave the terminal as it was found."""

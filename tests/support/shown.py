"""What a person reads."""

from collections.abc import Iterable

from scopa_cli.lines import Line, words


def text(lines: Iterable[Line]) -> str:
    """Lines as they are read."""
    return "\n".join(words(line).rstrip() for line in lines)

"""`scopa`: the program's entry. Everything heavy is imported only where it is needed."""

import os
import sys
from collections.abc import Sequence

from . import VERSION

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        try:
            return _run(words)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as fault:
        return _cannot_write(fault)


def _run(words: list[str]) -> int:
    if words in (["--version"], ["-V"]):
        sys.stdout.write(f"scopa {VERSION}\n")
        return 0
    from .commands.parser import parse

    options = parse(words)
    from .commands import run

    return run(options)


def _cannot_write(fault: OSError) -> int:
    """End without output; where whoever read it is gone there is nothing to say."""
    # Keep the interpreter from flushing into nothing.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(fault, BrokenPipeError):
        return 0
    sys.stderr.write(f"scopa: {fault.strerror or fault}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

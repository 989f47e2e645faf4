"""`scopa`: the program's entry. Everything heavy is imported only where it is needed."""

import os
import sys
from collections.abc import Sequence

from . import VERSION

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words in (["--version"], ["-V"]):
        sys.stdout.write(f"scopa {VERSION}\n")
        return 0
    from .commands.parser import parse

    options = parse(words)
    from .commands import run

    try:
        return run(options)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output is gone: keep the interpreter from flushing into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())

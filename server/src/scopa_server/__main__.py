"""The command `scopa-server`. What is slow to import is imported once it is needed."""

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the server; returns the exit status: 2 for wrong options, 1 if it can't start."""
    words = sys.argv[1:] if argv is None else argv
    if "--help" in words or "-h" in words:
        return _help()
    if "--version" in words:
        return _version()
    from scopa_server.config import BadOption, parse

    try:
        config = parse(words, os.environ)
    except BadOption as error:
        return _failed(2, str(error))
    from importlib import import_module

    from scopa_server.startup import CannotStart

    try:
        status: int = import_module("scopa_server.app").run(config)
    except CannotStart as error:
        return _failed(1, str(error))
    except KeyboardInterrupt:
        return 130
    return status


def _help() -> int:
    from scopa_server.options import help_text

    sys.stdout.write(help_text())
    return 0


def _version() -> int:
    from scopa_protocol import VERSION

    sys.stdout.write(f"scopa-server {VERSION}\n")
    return 0


def _failed(status: int, why: str) -> int:
    sys.stderr.write(f"scopa-server: {why}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())

"""The command `scopa-server`. What is slow to import is imported once it is needed."""

import os
import stat
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scopa_server.workers import WORKER

if TYPE_CHECKING:
    from scopa_server.config import Config


def main(argv: Sequence[str] | None = None) -> int:
    """Run the server; returns the exit status: 2 for wrong options, 1 if it can't start."""
    try:
        return _main(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return 130
    except Exception as fault:
        # As Python would show it, it might hold a secret.
        from scopa_server.log_failures import as_lines

        words = "\n".join(as_lines((type(fault), fault, fault.__traceback__)))
        return _failed(1, f"a fault of the server's own, please report it:\n{words}")


def _main(words: Sequence[str]) -> int:
    if "--help" in words or "-h" in words:
        return _help()
    if "--version" in words or "-V" in words:
        return _version()
    if len(words) == 2 and words[0] == WORKER and _is_looked_after():
        return _work(int(words[1]))
    from scopa_server.config import BadOption, fit_to_serve, parse

    operator, options = _operators_words(words)
    try:
        config = parse(options, os.environ)
        if operator is None:
            fit_to_serve(config)
    except BadOption as error:
        return _failed(2, str(error))
    from scopa_server.startup import CannotStart

    try:
        return _run(operator, config)
    except CannotStart as error:
        return _failed(1, str(error))


def _operators_words(words: Sequence[str]) -> tuple[Sequence[str] | None, Sequence[str]]:
    """The words of `rooms …` up to the first option, and the options."""
    if not words or words[0] != "rooms":
        return None, words
    end = next((at for at, word in enumerate(words) if word.startswith("--")), len(words))
    return words[1:end], words[end:]


def _run(operator: Sequence[str] | None, config: "Config") -> int:
    if operator is not None:
        from scopa_server import operating

        return operating.run(operator, config)
    if config.workers > 1:
        from scopa_server.workers import supervisor

        return supervisor.run(config)
    from scopa_server import app

    return app.run(config)


def _is_looked_after() -> bool:
    """Whether a supervisor may be at the other end; else somebody has mistyped --workers."""
    try:
        return stat.S_ISSOCK(os.fstat(0).st_mode)
    except OSError:
        return False


def _work(number: int) -> int:
    """Be one of a supervisor's workers."""
    from scopa_server.workers import worker

    return worker.run(number)


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

"""The subcommands: each turns what was asked on the command line into something done."""

from argparse import Namespace
from importlib import import_module
from typing import Final, cast

ENTERING: Final = frozenset({"host", "join", "watch"})


def run(options: Namespace) -> int:
    """Run a parsed command line. A command's module is imported only to be run."""
    name = "enter" if options.command in ENTERING else options.command
    module = import_module(f".{name}", __package__)
    return cast(int, getattr(module, name)(options))

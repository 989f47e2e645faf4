"""Where a command shows what it has to show."""

import os
from argparse import Namespace

from scopa_cli.console import Console
from scopa_cli.output import Writer, standard_writer
from scopa_cli.plain import PlainConsole
from scopa_cli.terminal import Terminal, can_edit

USAGE = 2
"""The exit status of a command line that can't be done as it stands."""


def open_console(options: Namespace) -> tuple[Console, Writer]:
    """The console that fits this terminal, and the writer it uses."""
    fancy = can_edit() and not options.plain
    colour = fancy and not os.environ.get("NO_COLOR")
    writer = standard_writer(colour=colour, ascii_only=options.ascii)
    return (Terminal(writer) if fancy else PlainConsole(writer)), writer

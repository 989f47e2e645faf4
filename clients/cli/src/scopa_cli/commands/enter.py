"""`scopa host`, `join` and `watch`: into a room, and out of it again."""

import asyncio
import os
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from shutil import get_terminal_size

from scopa_cli.commitments import Witness
from scopa_cli.entry import Entry
from scopa_cli.lines import line
from scopa_cli.output import Writer, error_writer
from scopa_cli.places import commitment_store, remember_name, seat_store, state_folder
from scopa_cli.player import Player, Wishes
from scopa_cli.script import Script
from scopa_cli.signals import on_interrupt
from scopa_protocol.views import View

from .opening import Entrance
from .screen import USAGE, open_console
from .secret import Unclear


def enter(options: Namespace) -> int:
    """Run the command line to its end, and return the exit code."""
    try:
        entrance = Entrance(seat_store(), state_folder(), os.environ)
        entry = entrance.entry(options)
        if entry.seating is not None:
            entry.seating.ask()
    except Unclear as unclear:
        error_writer().lines([line(str(unclear))])
        return USAGE
    except OSError as fault:
        error_writer().lines([line(_no_folder(fault))])
        return 1
    return asyncio.run(_run(options, entry))


def _no_folder(fault: OSError) -> str:
    reason = fault.strerror or "it can't be written"
    return (
        f"Your seat's token can't be kept in {state_folder()}: {reason}. "
        "Make that folder writable, or name another with XDG_STATE_HOME."
    )


async def _run(options: Namespace, entry: Entry) -> int:
    if options.json:
        return await Script(entry, show_token=options.show_token, witness=_witness(entry)).run()
    console, writer = open_console(options)
    player = Player(entry, console, wishes(options, writer, entry))
    on_interrupt(player.interrupted)
    ending = await player.run()
    return ending.code


def _witness(entry: Entry) -> Callable[[View], None]:
    return Witness(commitment_store(), entry.endpoint).see


def wishes(options: Namespace, writer: Writer, entry: Entry) -> Wishes:
    """What the command line asks of the player."""
    return Wishes(
        bots=getattr(options, "bots", 0),
        autoplay=getattr(options, "autoplay", False),
        once=options.once,
        look=True,
        charset=writer.charset,
        columns=get_terminal_size().columns,
        remember=partial(remember_name, folder=state_folder()),
        witness=_witness(entry),
    )

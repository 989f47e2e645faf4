"""`scopa verify`: check recorded deals, or a room's, against the commitments seen."""

import asyncio
import os
from argparse import Namespace
from pathlib import Path

from scopa_cli.call import Failed
from scopa_cli.commitments import Seen
from scopa_cli.lines import line
from scopa_cli.output import error_writer, standard_writer
from scopa_cli.places import commitment_store, seat_store, state_folder
from scopa_cli.records import read_file
from scopa_cli.screens.verdicts import verdicts
from scopa_cli.verifying import room_of, status
from scopa_cli.verifying import verify as checked
from scopa_protocol.history import HistoryDeal
from scopa_protocol.invite import read_code, read_invite

from .history import ask
from .opening import Entrance
from .replay import reason
from .secret import Unclear

NOTHING = 2


def verify(options: Namespace) -> int:
    """Check the deals, and say what that proves."""
    path = Path(options.what)
    try:
        deals, seen = _from_file(path, options) if path.is_file() else _from_room(options)
    except (Unclear, Failed) as wrong:
        error_writer().lines([line(str(wrong))])
        return NOTHING
    except (OSError, ValueError) as fault:
        error_writer().lines([line(f"{options.what} can't be read: {reason(fault)}.")])
        return NOTHING
    found = [checked(deal, seen) for deal in deals if options.deal in (None, deal.deal)]
    standard_writer(ascii_only=options.ascii).lines(verdicts(found))
    return status(found)


def _from_file(path: Path, options: Namespace) -> tuple[list[HistoryDeal], Seen]:
    deals = read_file(path)
    store = commitment_store()
    if options.room is None:
        return deals, room_of(deals, store.rooms()) or {}
    try:
        invite = read_invite(options.room)
    except ValueError as wrong:
        raise Unclear(f"--room: {wrong}.") from None
    if invite.endpoint is not None:
        return deals, store.of_room(invite.endpoint, invite.code)
    named = [seen for room, seen in store.rooms() if room == invite.code]
    if len(named) > 1:
        raise Unclear("--room: several servers have that room: give the whole invite.")
    return deals, named[0] if named else {}


def _from_room(options: Namespace) -> tuple[list[HistoryDeal], Seen]:
    if read_code(options.what) is None and "://" not in options.what:
        raise Unclear(f"{options.what} is neither a file nor an invite.")
    entry = Entrance(seat_store(), state_folder(), os.environ).errand(options.what, options)
    told = asyncio.run(ask(entry, options.deal))
    return told.deals, commitment_store().of_room(told.endpoint, told.room)

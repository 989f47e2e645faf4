"""`scopa rooms`: the seats that this machine holds."""

import json
from argparse import Namespace

from scopa_cli.lines import line
from scopa_cli.output import standard_writer
from scopa_cli.places import seat_store
from scopa_cli.screens.catalogue import rooms as listed
from scopa_cli.tokens import HeldSeat
from scopa_protocol.invite import read_code


def rooms(options: Namespace) -> int:
    """List the seats, or forget those of a room."""
    store = seat_store()
    writer = standard_writer(ascii_only=options.ascii)
    if options.forget:
        code = read_code(options.forget)
        seats = [seat for seat in store.all() if seat.room == code and code is not None]
        for seat in seats:
            store.drop(seat.token)
        writer.lines([line(_forgotten(len(seats)))])
        return 0 if seats else 1
    if options.json:
        writer.control("".join(f"{json.dumps(_public(seat))}\n" for seat in store.all()))
    else:
        writer.lines(listed(store.all()))
    return 0


def _forgotten(seats: int) -> str:
    if not seats:
        return "This machine holds no seat there: scopa rooms lists those that it holds."
    return f"Forgot {seats} of this machine's seats."


def _public(seat: HeldSeat) -> dict[str, object]:
    """A seat without its token."""
    return {
        "server": seat.server,
        "room": seat.room,
        "seat": seat.seat,
        "name": seat.name,
        "invite": seat.invite,
    }

"""`scopa history`: a room's finished deals, told, as text, or as JSON."""

import asyncio
import os
from argparse import Namespace

from msgspec import Struct

from scopa_cli.call import Call, Failed, call
from scopa_cli.dial import Dial, dial
from scopa_cli.entry import Entry
from scopa_cli.lines import line
from scopa_cli.output import error_writer, standard_writer
from scopa_cli.places import seat_store, state_folder
from scopa_cli.records import write_lines
from scopa_protocol.commands import History
from scopa_protocol.frames import HistoryFrame, Joined
from scopa_protocol.history import HistoryDeal

from .opening import Entrance
from .screen import USAGE
from .secret import Unclear


class Told(Struct, frozen=True):
    """What a server told of a room's past: who sits there now, and the deals."""

    room: str
    endpoint: str
    names: list[str | None]
    deals: list[HistoryDeal]


def history(options: Namespace) -> int:
    """Print a room's finished deals."""
    try:
        entry = Entrance(seat_store(), state_folder(), os.environ).errand(options.invite, options)
        told = asyncio.run(ask(entry, options.deal))
    except Unclear as unclear:
        error_writer().lines([line(str(unclear))])
        return USAGE
    except Failed as failed:
        error_writer().lines([line(str(failed))])
        return 1
    if not told.deals:
        error_writer().lines([line(_nothing(options.deal))])
        return 1
    _print(told, options)
    return 0


def _nothing(number: int | None) -> str:
    return "No deal is finished yet." if number is None else f"No finished deal is number {number}."


async def ask(entry: Entry, number: int | None = None, dialled: Dial = dial) -> Told:
    """Everything that a server tells of a room's finished deals, or of one. Raises Failed."""
    async with call(entry.endpoint, dialled) as server:
        joined = await server.ask(entry.command, Joined)
        deals = await _deals(server, number)
    names = [seat.name for seat in joined.view.seats]
    return Told(joined.room, entry.endpoint, names, deals)


async def _deals(server: Call, number: int | None) -> list[HistoryDeal]:
    found: list[HistoryDeal] = []
    start: int | None = number
    while True:
        limit = 1 if number is not None else None
        page = await server.ask(History(from_deal=start, limit=limit), HistoryFrame)
        found += page.deals
        last = found[-1].deal if found else None
        # A server that names no later deal would have one ask for ever.
        if number is not None or page.next is None or not page.deals or page.next <= (last or 0):
            break
        start = page.next
    return [deal for deal in found if number in (None, deal.deal)]


def _print(told: Told, options: Namespace) -> None:
    writer = standard_writer(ascii_only=options.ascii)
    if options.json:
        writer.control(write_lines(told.deals))
    elif options.text:
        writer.lines(map(line, notation(told).splitlines()))
    else:
        from scopa_cli.replaying import steps
        from scopa_cli.screens.record import story

        for deal in told.deals:
            writer.lines([*story(steps(deal, told.names)), line()])


def notation(told: Told) -> str:
    """The deals in the notation, with the room and its people in comments."""
    from scopa_protocol.notation import write_deal
    from scopa_protocol.text import for_screen

    seats = ", ".join(f"{seat} {for_screen(name or '-')}" for seat, name in enumerate(told.names))
    head = f"# Room {for_screen(told.room)} at {told.endpoint}\n# Seats now: {seats}\n"
    return head + "".join(f"\n{write_deal(deal)}" for deal in told.deals)

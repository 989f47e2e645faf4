"""`scopa variants`: what a server says that it can play."""

import asyncio
import json
import os
from argparse import Namespace

from scopa_cli.closing import Ending
from scopa_cli.dial import FAULTS, Dial, dial, fault_ending
from scopa_cli.lines import line
from scopa_cli.output import error_writer, standard_writer
from scopa_cli.places import server_address
from scopa_cli.screens.catalogue import variants as listed
from scopa_protocol.codec import JSON
from scopa_protocol.frames import Hello
from scopa_protocol.invite import endpoint

PATIENCE = 10.0


def variants(options: Namespace) -> int:
    """Print the server's variants."""
    try:
        address = endpoint(server_address(options.server, os.environ))
    except ValueError as wrong:
        error_writer().lines([line(f"{wrong}")])
        return 2
    found = asyncio.run(ask(address))
    if isinstance(found, Ending):
        error_writer().lines([line(found.why)])
        return 1
    hello, text = found
    writer = standard_writer(ascii_only=options.ascii)
    if options.json:
        writer.control(f"{text}\n")
    else:
        writer.lines(listed(hello))
    return 0


async def ask(address: str, dialled: Dial = dial) -> tuple[Hello, str] | Ending:
    """A server's hello, decoded and as one line of JSON; or why there is none."""
    from websockets.exceptions import ConnectionClosed

    try:
        async with asyncio.timeout(PATIENCE):
            ws = await dialled(address)
            try:
                data = await ws.recv(decode=False)
                hello = JSON.decode_frame(data)
            finally:
                await ws.close()
    except FAULTS as fault:
        return fault_ending(address, fault)
    except (ConnectionClosed, ValueError):
        return Ending(why=f"{address} answers, but not as a Scopa server does.", code=1)
    if not isinstance(hello, Hello):
        return Ending(why=f"{address} answers, but not as a Scopa server does.", code=1)
    return hello, json.dumps(json.loads(data))

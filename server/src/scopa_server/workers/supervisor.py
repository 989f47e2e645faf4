"""Several workers at one port: started together, kept alive, stopped together.

The supervisor itself serves no player: it holds the port, and shows the health of all.
"""

import asyncio
import signal
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import structlog

from scopa_server import app
from scopa_server.config import Config
from scopa_server.logs import logging_to
from scopa_server.startup import CannotStart, cannot_listen
from scopa_server.workers.keeper import Keeper
from scopa_server.workers.pages import Pages
from scopa_server.workers.ports import reserved
from scopa_server.workers.switchboard import Switchboard

_log = structlog.stdlib.get_logger()


def run(config: Config) -> int:
    """Serve with several processes until a signal says stop; raises CannotStart."""
    with logging_to(level=config.log_level, form=config.log_format):
        return asyncio.run(_main(config))


async def _main(config: Config) -> int:
    app.warn(config)
    stop = app.stopping()
    async with AsyncExitStack() as stack:
        try:
            port = stack.enter_context(reserved(config.host, config.port))
        except OSError as fault:
            raise cannot_listen(fault, config.host, config.port) from None
        theirs = replace(config, port=port, admin_port=None, warnings=())
        # TLS is a state of the process that speaks it: such connections stay where they are.
        board = Switchboard() if config.tls_cert is None else None
        keepers = [Keeper(number, theirs, board) for number in range(1, config.workers + 1)]
        if config.tls_cert is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, _reload, keepers)
        try:
            pages = Pages(keepers)
            await app.open_admin(stack, config, pages.metrics, pages.why_not)
            await _all_serve(keepers, stop)
            if not stop.is_set():
                app.announce(config, port)
                await stop.wait()
            _log.info("stopping")
        finally:
            in_order = await asyncio.gather(*(keeper.stop() for keeper in keepers))
    _log.info("stopped")
    return 0 if all(in_order) else 1


async def _all_serve(keepers: Sequence[Keeper], stop: asyncio.Event) -> None:
    """Wait until every worker serves, or somebody says stop. Raises CannotStart."""
    stopped = asyncio.create_task(stop.wait())
    for keeper in keepers:
        either: list[asyncio.Future[Any]] = [keeper.outcome, stopped]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not stop.is_set() and keeper.outcome.result():
            await app.cancelled(stopped)
            raise CannotStart(keeper.outcome.result())
    await app.cancelled(stopped)


def _reload(keepers: Sequence[Keeper]) -> None:
    for keeper in keepers:
        keeper.reload()

"""The server as it is; on SIGUSR1 it tidies its memory and logs which tasks it has."""

import asyncio
import gc
import signal
import sys
from collections import Counter

import structlog

from scopa_server import app
from scopa_server.__main__ import main

log = structlog.get_logger()
stopping = app.stopping


def _tell() -> None:
    gc.collect()
    tasks = [getattr(task.get_coro(), "__qualname__", "?") for task in asyncio.all_tasks()]
    log.info("tasks", tasks=dict(sorted(Counter(tasks).items())))


def _watched() -> asyncio.Event:
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, _tell)
    return stopping()


if __name__ == "__main__":
    vars(app)["stopping"] = _watched
    sys.exit(main())

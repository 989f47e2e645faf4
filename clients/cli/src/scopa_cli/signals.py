"""Ctrl-C and a polite kill, on loops that can hear of them."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress


def on_interrupt(called: Callable[[], None]) -> None:
    """Let the running loop call this for SIGINT and SIGTERM.

    Windows' loops can't; Ctrl-C raises KeyboardInterrupt there.
    """
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, called)

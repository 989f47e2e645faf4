"""The event loop that a server runs on."""

import asyncio
from collections.abc import Callable


def fastest() -> Callable[[], asyncio.AbstractEventLoop]:
    """Give uvloop's loops where it is installed: not on Windows, which it doesn't know."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop

"""How a line is let go of differs from loop to loop: these tests run on each kind."""

import asyncio
from collections.abc import Callable

from scopa_server.loop import fastest


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Loops as Python has them, and as the server runs on."""
    return {"asyncio": asyncio.new_event_loop, "fastest": fastest()}

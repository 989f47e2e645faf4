"""Following what other processes do to the rooms shown here. What is heard is only a hint."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

import structlog

from scopa_server.journal.interface import LOOK, Journal, Unavailable

from .gossip import HOLDS_SECONDS
from .room import LiveRoom
from .time import Time

log = structlog.stdlib.get_logger()

POLL_SECONDS: Final = 2
"""How often the tops of the rooms shown are looked at, whatever was heard."""
RETRY_SECONDS: Final = 1
ALONE_SECONDS: Final = HOLDS_SECONDS
"""How long a process may not reach the store: to the others its people are gone by then."""


async def listen(journal: Journal, live: LiveRoom) -> None:
    """Let a room know of commits and gossip, for as long as it is shown."""
    while True:
        try:
            async with journal.watch(live.room.code) as hints:
                async for number in hints:
                    if number == LOOK or number > live.room.seq:
                        live.notice_news(gossip=number == LOOK)
            return
        except Unavailable:
            log.warning("not_listening", room=live.room.code)
            await asyncio.sleep(RETRY_SECONDS)


async def poll(journal: Journal, shown: Callable[[], Mapping[str, LiveRoom]], time: Time) -> None:
    """Look at the tops of all rooms shown, now and then, for what was never heard.

    A process that can't for long sends everybody away, rather than show what may be old.
    """
    reached = time.now()
    while True:
        await asyncio.sleep(POLL_SECONDS)
        if await _look(journal, shown()):
            reached = time.now()
        elif time.now() - reached >= ALONE_SECONDS:
            _send_away(shown())


async def _look(journal: Journal, rooms: Mapping[str, LiveRoom]) -> bool:
    # A function of its own: while `poll` sleeps it must not keep rooms that have left.
    before = {code: live.top for code, live in rooms.items()}
    try:
        tops = await journal.tops(list(rooms)) if rooms else {}
    except Unavailable:
        return False
    except Exception:
        # A poll that ended would leave all rooms to what they happen to hear.
        log.exception("poll_fault")
        return False
    for code, live in rooms.items():
        if tops.get(code) not in {before.get(code), live.top}:
            live.notice_news(gossip=False)
    return True


def _send_away(rooms: Mapping[str, LiveRoom]) -> None:
    log.warning("store_out_of_reach", rooms=len(rooms))
    for live in rooms.values():
        live.send_away()

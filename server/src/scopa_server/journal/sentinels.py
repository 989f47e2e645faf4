"""Which server is master, as the sentinels say."""

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol
from weakref import WeakSet

import structlog

from scopa_server.journal.link import Broken, Link, Refusal, TurnedAway, Unreached, background, end
from scopa_server.journal.places import Address, Place
from scopa_server.journal.resend import Sleep

_ANSWER_SECONDS = 1.0
_LOOK_EVERY = 5.0
_DELAY = 1.0
_CHANGES: Final = ("+promoted-slave", "+switch-master")
"""What a sentinel says when there is another master: the one who sees to it, and the others."""

_log = structlog.get_logger(__name__)


class Follower(Protocol):
    """Uses the master."""

    def leave_others(self) -> None:
        """Leave whoever isn't master any more, whatever was asked there."""
        ...


class Sentinels:
    """The sentinels of one service, asked one after another; who answered last is asked first.

    They are listened to as well: a master that was only slow is replaced, and takes appends for
    some ten seconds more that nobody will ever see.
    """

    def __init__(
        self, place: Place, link_to: Callable[[str], Link], sleep: Sleep = asyncio.sleep
    ) -> None:
        self._place = place
        self._link_to = link_to
        self._sleep = sleep
        self._sentinels = list(place.seeds)
        self._watching: asyncio.Task[None] | None = None
        self._closed = False
        self._asking = asyncio.Lock()
        self._followers: WeakSet[Follower] = WeakSet()
        self.latest: Address | None = None
        """Where the master was when that was last found out."""

    async def master(self) -> Address:
        """Return where the master is; raises `Unreached`."""
        return (await self._find())[1]

    def tell(self, follower: Follower) -> None:
        """Tell somebody, for as long as it is there, whenever `latest` may be another."""
        self._followers.add(follower)

    def keep_watch(self) -> None:
        """Keep `latest` right from now on, until `close`."""
        if self._watching is None and not self._closed:
            self._watching = background(self._watch(), "journal-sentinels")

    async def close(self) -> None:
        """Watch no more."""
        self._closed = True
        await end(self._watching)

    async def _find(self) -> tuple[Address, Address]:
        """The sentinel that answered, and the master."""
        # One at a time, or each would ask another: for a moment they differ after a failover.
        async with self._asking:
            return await self._ask_each()

    async def _ask_each(self) -> tuple[Address, Address]:
        trouble = Unreached("no sentinel answers")
        for sentinel in tuple(self._sentinels):
            # Whoever asks may have no time to hear that it is silent: until it answers it is last.
            self._move(sentinel, len(self._sentinels))
            try:
                async with asyncio.timeout(_ANSWER_SECONDS):
                    answer = await self._ask(sentinel)
            except TurnedAway as error:
                trouble = error
                continue
            except (Unreached, Broken, TimeoutError):
                continue
            match answer:
                case [bytes(host), bytes(port)]:
                    self._move(sentinel, 0)
                    return sentinel, self._note(Address(host.decode(), int(port)))
                case Refusal(code):
                    trouble = TurnedAway(f"is no sentinel, or refuses to answer: {code}")
                case _:
                    trouble = TurnedAway("knows no such service: is its name in --store right?")
        raise trouble

    def _move(self, sentinel: Address, to: int) -> None:
        self._sentinels.remove(sentinel)
        self._sentinels.insert(to, sentinel)

    def _note(self, master: Address) -> Address:
        if self.latest not in (None, master):
            _log.warning("journal_master_replaced", host=master.host, port=master.port)
        self.latest = master
        for follower in tuple(self._followers):
            follower.leave_others()
        return master

    async def _ask(self, sentinel: Address) -> Any:
        link = self._link_to(self._place.sentinel_at(sentinel))
        try:
            await link.open()
            await link.send([("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self._place.service)])
            return (await link.receive(1))[0]
        finally:
            await link.drop()

    async def _watch(self) -> None:
        while True:
            try:
                await self._listen()
            except (Unreached, Broken):
                pass  # said by who needs a master
            except Exception:
                # A task that ended would leave a master that was replaced in use.
                _log.exception("journal_sentinels_fault")
            await self._sleep(_DELAY)

    async def _listen(self) -> None:
        """Ask whenever a sentinel tells of a change, and now and then, as long as it answers."""
        told_by, _ = await self._find()
        link = self._link_to(self._place.sentinel_at(told_by))
        try:
            await link.open()
            await link.send([("SUBSCRIBE", *_CHANGES)])
            while (await self._find())[0] == told_by:
                await link.listen(_LOOK_EVERY)
        finally:
            await link.drop()

"""The journal in Redis or Valkey, for many processes."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, cast

from scopa_server.journal import scripts
from scopa_server.journal.cluster import Cluster
from scopa_server.journal.hints import EVERYBODY, Hint, Words
from scopa_server.journal.interface import (
    KEY_BYTES,
    Commit,
    Draft,
    Snapshot,
    Stored,
    Taken,
    Touch,
    Unavailable,
    whole_chain,
)
from scopa_server.journal.link import Links, Refused
from scopa_server.journal.nodes import Alone, Servers
from scopa_server.journal.places import Place
from scopa_server.journal.redis import RedisLink, link_to, link_to_master
from scopa_server.journal.redis_settings import SETTINGS, UNREACHED, warnings
from scopa_server.journal.resend import Sleep
from scopa_server.journal.sentinels import Sentinels

_GRACE_SECONDS = 5.0
_LISTED_AT_ONCE = 500


def _servers(place: Place, sentinels: Sentinels, sleep: Sleep) -> Servers:
    if place.kind == "cluster":
        return Cluster(place.seeds, lambda address: link_to(place.at(address)), sleep)
    make: Callable[[str | None], RedisLink] = (
        partial(link_to_master, place, sentinels)
        if place.kind == "sentinel"
        else partial(link_to, place.url)
    )
    return Alone(lambda: make(None), lambda: make(scripts.APPEND), sleep)


class RedisJournal:
    """A `Journal` shared by every process that names the same Redis."""

    def __init__(
        self, place: Place, *, sleep: Sleep = asyncio.sleep, grace: float = _GRACE_SECONDS
    ) -> None:
        self._grace = grace
        self._clustered = place.kind == "cluster"
        self._sentinels = Sentinels(place, link_to, sleep)
        self._servers = _servers(place, self._sentinels, sleep)
        self._hints = self._servers.hints

    @property
    def batches(self) -> int:
        """How many pipelines of appends went out so far."""
        return self._servers.batches

    def append(
        self, room: str, draft: Draft, *, header: bytes | None, ttl: int
    ) -> "asyncio.Future[Stored | Taken]":
        """Add a commit if it follows the log's top, sent until the store has answered."""
        own = self._hints.takes(room, draft.number)
        ear = self._servers.ear_of(room) if own else ""
        command = scripts.append(room, draft, header, ttl, ear=ear)
        outcome = self._servers.append(room, command)
        if own:
            self._hints.begin(room, draft.number)
            outcome.add_done_callback(partial(self._tell, room, draft.number))
        return outcome

    def _tell(self, room: str, number: int, outcome: "asyncio.Future[Stored | Taken]") -> None:
        """Let those who listen here know, after whoever waits for the outcome."""
        failed = outcome.cancelled() or outcome.exception() is not None
        stored = not failed and isinstance(outcome.result(), Stored)
        self._hints.settle(room, number, stored=stored)

    @property
    def shared(self) -> bool:
        """Return that others may be there."""
        return True

    async def gossip(self, room: str, process: str, note: bytes, seconds: int) -> dict[str, bytes]:
        """Leave a note, return the others'."""
        words = await self._servers.ask(room, scripts.gossip(room, process, note, seconds))
        return {name.decode(): text for name, text in zip(words[::2], words[1::2], strict=True)}

    async def restore(
        self, room: str, commits: Sequence[Commit], *, header: bytes, ttl: int
    ) -> bool:
        """Bring a room in whole, unless it is there."""
        return bool(
            await self._servers.ask(room, scripts.restore(room, whole_chain(commits), header, ttl))
        )

    async def read(self, room: str, after: int = 0) -> list[Commit]:
        """Return the commits above a number."""
        entries = await self._servers.ask(room, scripts.read(room, after))
        return [_commit(entry) for entry in entries]

    async def header(self, room: str) -> bytes | None:
        """Return the latest header, `LOST` if only the log is left."""
        return cast("bytes | None", await self._servers.ask(room, scripts.header(room)))

    async def top(self, room: str) -> tuple[int, str] | None:
        """Return number and id of the newest commit."""
        answer = await self._servers.ask(room, scripts.top(room))
        return answer and _top(answer)

    async def tops(self, rooms: Collection[str]) -> dict[str, tuple[int, str]]:
        """Return the tops of the rooms that exist."""
        answers = await self._servers.ask_each({room: scripts.top(room) for room in rooms})
        return {room: _top(answer) for room, answer in answers.items() if answer is not None}

    async def snapshot(self, room: str, snapshot: Snapshot) -> None:
        """Keep a snapshot if it is sound and newer."""
        await self._servers.ask(room, scripts.snapshot(room, snapshot))

    async def latest_snapshot(self, room: str) -> Snapshot | None:
        """Return the snapshot kept, if sound."""
        kept = await self._servers.ask(room, scripts.latest_snapshot(room))
        return kept and Snapshot(int(kept[0]), kept[1].decode(), kept[2])

    async def touch(self, rooms: Mapping[str, Touch]) -> None:
        """Note that rooms are shown and renew their time to live."""
        await self._servers.ask_each({room: scripts.touch(room, rooms[room]) for room in rooms})

    async def shown(self, room: str) -> int | None:
        """Return the mark of the last touch."""
        at = await self._servers.ask(room, scripts.shown(room))
        return at and int(at)

    def watch(self, room: str) -> AbstractAsyncContextManager[AsyncIterator[int]]:
        """Hear of the room's new commits."""
        return self._servers.listen(room, Hint())

    async def shared_key(self, seconds: int) -> bytes:
        """Return the key, made by whoever asked first."""
        new = secrets.token_bytes(KEY_BYTES)
        words = scripts.shared_key(new, seconds)
        return cast("bytes", await self._servers.ask(EVERYBODY, words))

    async def publish(self, words: bytes) -> None:
        """Say it to whoever listens."""
        await self._servers.ask(EVERYBODY, scripts.publish(words))

    def published(self) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Hear what is published."""
        return self._servers.listen(EVERYBODY, Words())

    async def rooms(self) -> AsyncIterator[str]:
        """List every room, each once."""
        seen: set[str] = set()
        for links in await self._servers.each():
            async for key in _logs(links):
                room = scripts.room_of(key.decode())
                if room not in seen:
                    seen.add(room)
                    yield room

    async def delete(self, room: str) -> None:
        """Forget a room."""
        await self._servers.ask(room, scripts.delete(room))

    async def sweep(self) -> None:
        """Do nothing: Redis removes what is over."""

    async def ping(self) -> None:
        """Return if any server of the store answers: the rooms of the others wait."""
        asked = [asyncio.create_task(_ping(links)) for links in await self._servers.each()]
        trouble = Unavailable("the store has no servers")
        try:
            for answer in asyncio.as_completed(asked):
                try:
                    return await answer
                except Unavailable as error:
                    trouble = error
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        raise trouble

    async def check(self) -> list[str]:
        """Return what is wrong with versions, eviction and persistence, on any server."""
        found: dict[str, None] = {}
        servers = await self._servers.each()
        for links in servers:
            try:
                information = await _shown(links, "INFO", "server")
                settings = await _shown(links, "CONFIG", "GET", *SETTINGS)
            except Unavailable:
                if len(servers) == 1:
                    raise
                found[UNREACHED] = None
            else:
                found |= dict.fromkeys(warnings(information, settings, clustered=self._clustered))
        return list(found)

    async def close(self) -> None:
        """Wait `grace` seconds at most for appends under way, then disconnect."""
        await self._servers.close(self._grace)
        await self._sentinels.close()


async def _ping(links: Links) -> None:
    await links.ask([("PING",)])


async def _logs(links: Links) -> AsyncIterator[bytes]:
    cursor = b"0"
    while True:
        scan = ("SCAN", cursor, "MATCH", scripts.LOGS, "COUNT", _LISTED_AT_ONCE)
        cursor, keys = (await links.ask([scan]))[0]
        for key in keys:
            yield key
        if cursor == b"0":
            return


async def _shown(links: Links, *command: str) -> Any:
    try:
        return (await links.ask([command]))[0]
    except Refused:
        return None


def _top(answer: Any) -> tuple[int, str]:
    return _number(answer[0]), answer[1].decode()


def _number(entry: bytes) -> int:
    return int(entry.partition(b"-")[0])


def _commit(entry: Any) -> Commit:
    name, fields = entry
    identity, previous, at, payload = fields[1::2]
    return Commit(_number(name), identity.decode(), previous.decode(), int(at), payload)

"""The journal in Redis or Valkey, for many processes. The only module that knows redis-py."""

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, cast

from redis.asyncio import ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError

from scopa_server.journal import scripts
from scopa_server.journal.interface import (
    Commit,
    Draft,
    Snapshot,
    Stored,
    Taken,
    Touch,
    whole_chain,
)
from scopa_server.journal.link import Broken, Links, Refusal, Refused, Unreached
from scopa_server.journal.news import News
from scopa_server.journal.redis_settings import SETTINGS, warnings
from scopa_server.journal.resend import Resender, Sleep
from scopa_server.journal.scripts import Command

_CONNECT_SECONDS = 3.0
_ANSWER_SECONDS = 5.0
_GRACE_SECONDS = 5.0
_CONNECTIONS = 8
_ASKED_AT_ONCE = 200
_LISTED_AT_ONCE = 500
_CODE = re.compile(r"[A-Z]{1,20}")


class RedisLink:
    """A `Link` over redis-py's connection, which neither retries nor reconnects by itself."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._connection = pool.make_connection()

    async def open(self) -> None:
        """Connect, or notice that the store has closed an idle connection and connect anew."""
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await self._pool.ensure_connection(self._connection)
        except Exception as error:
            await self.drop()
            reason = str(error) or "no answer in time"
            raise Unreached(f"no connection to the store: {reason}") from error

    async def send(self, commands: Sequence[Command]) -> None:
        """Send in one go."""
        if not self._connection.is_connected:
            raise Broken("the connection is gone")  # redis-py would connect and say nothing
        packed = self._connection.pack_commands(commands)
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await self._connection.send_packed_command(packed, check_health=False)
        except Exception as error:
            raise Broken(f"sending failed: {type(error).__name__}") from error

    async def receive(self) -> Any:
        """Return the next answer."""
        return await self._read(_ANSWER_SECONDS)

    async def listen(self, seconds: float) -> Any:
        """Return the next message, None if none came in time."""
        return await self._read(None, timeout=seconds, disconnect_on_error=False)

    async def _read(self, limit: float | None, **how: Any) -> Any:
        try:
            async with asyncio.timeout(limit):
                return await self._connection.read_response(**how)
        except ResponseError as error:
            return Refusal(_code(error))
        except Exception as error:
            raise Broken(f"the connection failed: {type(error).__name__}") from error

    async def drop(self) -> None:
        """Disconnect without waiting for the other side."""
        await self._connection.disconnect(nowait=True)


def _code(error: ResponseError) -> str:
    # The text may repeat what was sent; its first word is the kind of error.
    code = getattr(error, "status_code", None) or str(error).partition(" ")[0]
    return code if _CODE.fullmatch(code) else type(error).__name__


def build_pool(url: str) -> Any:
    """Return what makes this program's connections: RESP2, and no retry anywhere.

    The timeouts are the link's: redis-py's own go through `wait_for`, which can lose a
    cancellation in Python 3.11.
    """
    return cast("Any", ConnectionPool).from_url(
        url,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_connect_timeout=None,
        socket_timeout=None,
    )


class RedisJournal:
    """A `Journal` shared by every process that names the same Redis."""

    def __init__(
        self, url: str, *, sleep: Sleep = asyncio.sleep, grace: float = _GRACE_SECONDS
    ) -> None:
        self._grace = grace
        make = partial(RedisLink, build_pool(url))
        self._appends = Resender(make(), sleep)
        self._news = News(make(), sleep)
        self._links = Links(make, _CONNECTIONS)

    @property
    def batches(self) -> int:
        """How many pipelines of appends went out so far."""
        return self._appends.batches

    async def append(
        self, room: str, draft: Draft, *, header: bytes | None, ttl: int
    ) -> Stored | Taken:
        """Add a commit if it follows the log's top, sent until the store has answered."""
        at = await self._appends.submit(scripts.append(room, draft, header, ttl))
        return Stored(at) if at else Taken()

    @property
    def shared(self) -> bool:
        """Return that others may be there."""
        return True

    async def gossip(self, room: str, process: str, note: bytes, seconds: int) -> dict[str, bytes]:
        """Leave a note, return the others'."""
        words = await self._ask(scripts.gossip(room, process, note, seconds))
        return {name.decode(): text for name, text in zip(words[::2], words[1::2], strict=True)}

    async def restore(
        self, room: str, commits: Sequence[Commit], *, header: bytes, ttl: int
    ) -> bool:
        """Bring a room in whole, unless it is there."""
        return bool(await self._ask(scripts.restore(room, whole_chain(commits), header, ttl)))

    async def read(self, room: str, after: int = 0) -> list[Commit]:
        """Return the commits above a number."""
        entries = await self._ask(scripts.read(room, after))
        return [_commit(entry) for entry in entries]

    async def header(self, room: str) -> bytes | None:
        """Return the latest header."""
        return cast("bytes | None", await self._ask(scripts.field(room, "header")))

    async def top(self, room: str) -> tuple[int, str] | None:
        """Return number and id of the newest commit."""
        return (await self.tops([room])).get(room)

    async def tops(self, rooms: Collection[str]) -> dict[str, tuple[int, str]]:
        """Return the tops of the rooms that exist."""
        names = list(rooms)
        answers = await self._ask_many([scripts.top(room) for room in names])
        return {
            room: (_number(answer[0]), answer[1].decode())
            for room, answer in zip(names, answers, strict=True)
            if answer is not None
        }

    async def snapshot(self, room: str, snapshot: Snapshot) -> None:
        """Keep a snapshot if it is sound and newer."""
        await self._ask(scripts.snapshot(room, snapshot))

    async def latest_snapshot(self, room: str) -> Snapshot | None:
        """Return the snapshot kept, if sound."""
        kept = await self._ask(scripts.latest_snapshot(room))
        return kept and Snapshot(int(kept[0]), kept[1].decode(), kept[2])

    async def touch(self, rooms: Mapping[str, Touch]) -> None:
        """Note that rooms are shown and renew their time to live."""
        await self._ask_many([scripts.touch(room, new) for room, new in rooms.items()])

    async def shown(self, room: str) -> int | None:
        """Return the mark of the last touch."""
        at = await self._ask(scripts.field(room, "shown"))
        return at and int(at)

    def watch(self, room: str) -> AbstractAsyncContextManager[AsyncIterator[int]]:
        """Hear of the room's new commits."""
        return self._news.watch(room)

    async def rooms(self) -> AsyncIterator[str]:
        """List every room, each once."""
        seen: set[str] = set()
        cursor = b"0"
        while True:
            cursor, keys = await self._ask(
                ("SCAN", cursor, "MATCH", scripts.LOGS, "COUNT", _LISTED_AT_ONCE)
            )
            for room in {scripts.room_of(key.decode()) for key in keys} - seen:
                seen.add(room)
                yield room
            if cursor == b"0":
                return

    async def delete(self, room: str) -> None:
        """Forget a room."""
        await self._ask(scripts.delete(room))

    async def sweep(self) -> None:
        """Do nothing: Redis removes what is over."""

    async def ping(self) -> None:
        """Return if the store answers."""
        await self._ask(("PING",))

    async def check(self) -> list[str]:
        """Return what is wrong with the store's version, eviction and persistence."""
        information = await self._shown("INFO", "server")
        return warnings(information, await self._shown("CONFIG", "GET", *SETTINGS))

    async def _shown(self, *command: str) -> Any:
        try:
            return await self._ask(command)
        except Refused:
            return None

    async def close(self) -> None:
        """Wait `grace` seconds at most for appends under way, then disconnect."""
        await self._appends.close(self._grace)
        await self._news.close()
        await self._links.close()

    async def _ask(self, command: Command) -> Any:
        return (await self._links.ask([command]))[0]

    async def _ask_many(self, commands: Sequence[Command]) -> list[Any]:
        answers: list[Any] = []
        for start in range(0, len(commands), _ASKED_AT_ONCE):
            answers += await self._links.ask(commands[start : start + _ASKED_AT_ONCE])
        return answers


def _number(entry: bytes) -> int:
    return int(entry.partition(b"-")[0])


def _commit(entry: Any) -> Commit:
    name, fields = entry
    identity, previous, at, payload = fields[1::2]
    return Commit(_number(name), identity.decode(), previous.decode(), int(at), payload)

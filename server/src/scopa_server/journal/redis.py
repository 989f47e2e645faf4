"""The journal in Redis or Valkey, for many processes. The only module that knows redis-py."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, cast

from redis.asyncio import ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AskError, AuthenticationError, MovedError, RedisError, ResponseError

from scopa_server.journal import scripts
from scopa_server.journal.cluster import Cluster
from scopa_server.journal.interface import (
    Commit,
    Draft,
    Snapshot,
    Stored,
    Taken,
    Touch,
    Unavailable,
    whole_chain,
)
from scopa_server.journal.link import Broken, Links, Refusal, Refused, TurnedAway, Unreached
from scopa_server.journal.nodes import Alone, Servers
from scopa_server.journal.places import Address, Place
from scopa_server.journal.redis_settings import SETTINGS, UNREACHED, warnings
from scopa_server.journal.resend import Sleep
from scopa_server.journal.scripts import Command
from scopa_server.journal.sentinels import Sentinels
from scopa_server.journal.whole import keep_whole

_CONNECT_SECONDS = 3.0
_ANSWER_SECONDS = 5.0
_GRACE_SECONDS = 5.0
_LISTED_AT_ONCE = 500
_CODE = re.compile(r"[A-Z]{1,20}")


def turned_away(error: Exception) -> str | None:
    """Why the store, which answers, lets nobody in like this; never with its own words."""
    if isinstance(error, TurnedAway):
        return str(error)
    if isinstance(error, AuthenticationError):
        return "doesn't take this user and password: are those in --store right?"
    if isinstance(error, ResponseError) and "DB index" in str(error):
        return "has no database of that number: use /0"
    return None


Find = Callable[[], Awaitable[Any]]
"""Makes a connection, not connected yet, to where the store is at the moment."""


class RedisLink:
    """A `Link` over redis-py's connection, which neither retries nor reconnects by itself.

    `master`: whether to ask each new connection if it is to a master. `script`: what is sent once
    to each, and called by its hash from then on.
    """

    def __init__(self, find: Find, *, master: bool = False, script: str | None = None) -> None:
        self._find = find
        self._master = master
        self._script = script
        self._hash: bytes | None = None
        self._connection: Any = None
        self._transport: asyncio.Transport | None = None

    async def open(self) -> None:
        """Connect, or notice that the store has closed an idle connection and connect anew."""
        if await self._is_clean():
            return
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await self.drop()
                await self._connect()
        except Exception as error:
            await self.drop()
            if why := turned_away(error):
                raise TurnedAway(why) from None
            reason = str(error) or "no answer in time"
            raise Unreached(f"no connection to the store: {reason}") from error

    async def _is_clean(self) -> bool:
        """Whether it is connected and nothing waits to be read, not even its end."""
        connection = self._connection
        if connection is None or not connection.is_connected:
            return False
        if self._transport is None or self._transport.is_closing():
            return False  # one that was reset has no end to be read
        try:
            return not await connection.can_read()
        except RedisError:
            return False

    async def _connect(self) -> None:
        self._connection = await self._find()
        await self._connection.connect()
        transport: asyncio.Transport = self._connection._writer.transport
        self._transport = transport
        keep_whole(transport)
        if self._master:
            role = await self._ask("ROLE")
            if isinstance(role, Refusal) or role[0] != b"master":
                raise Unreached("the server isn't master")
        if self._script is not None:
            known = await self._ask("SCRIPT", "LOAD", self._script)
            # Who may not load scripts may still send them whole.
            self._hash = None if isinstance(known, Refusal) else known

    async def _ask(self, *command: str) -> Any:
        await self.send([command])
        return (await self.receive(1))[0]

    async def send(self, commands: Sequence[Command]) -> None:
        """Send in one go."""
        if self._connection is None or not self._connection.is_connected:
            raise Broken("the connection is gone")  # redis-py would connect and say nothing
        packed = b"".join([pack(self._shortened(command)) for command in commands])
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await self._connection.send_packed_command(packed, check_health=False)
        except Exception as error:
            raise Broken(f"sending failed: {type(error).__name__}") from error

    def _shortened(self, command: Command) -> Command:
        if self._hash is not None and command[0] == "EVAL" and command[1] is self._script:
            return ("EVALSHA", self._hash, *command[2:])
        return command

    async def receive(self, count: int) -> list[Any]:
        """Return the next answers, all of them in time or none more."""
        answers: list[Any] = []
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                for _ in range(count):
                    answers.append(await self._read())  # noqa: PERF401 - what came counts
        except TimeoutError:
            raise Broken("no answer in time", answers) from None
        except Broken as error:
            raise Broken(str(error), answers) from error.__cause__
        return answers

    async def listen(self, seconds: float) -> Any:
        """Return the next message, None if none came in time."""
        return await self._read(timeout=seconds, disconnect_on_error=False)

    async def _read(self, **how: Any) -> Any:
        try:
            return await self._connection.read_response(**how)
        except AskError as error:
            return _redirection(error, self._connection.host)
        except ResponseError as error:
            return Refusal(_code(error))
        except Exception as error:
            raise Broken(f"the connection failed: {type(error).__name__}") from error

    async def drop(self) -> None:
        """Disconnect without waiting for the other side, whatever it hasn't taken yet."""
        if self._connection is not None:
            await self._connection.disconnect(nowait=True)
            self._connection = None
        if self._transport is not None:
            # redis-py, here or after a fault, lets it wait until the other side has taken all.
            self._transport.abort()
            self._transport = None


def pack(command: Command) -> bytes:
    """A command as it is sent."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in command]
    return b"*%d\r\n" % len(words) + b"".join([b"$%d\r\n%b\r\n" % (len(w), w) for w in words])


def _code(error: ResponseError) -> str:
    # The text may repeat what was sent; its first word is the kind of error.
    code = getattr(error, "status_code", None) or str(error).partition(" ")[0]
    return code if _CODE.fullmatch(code) else type(error).__name__


def _redirection(error: AskError, asked: str) -> Refusal:
    # A node that names no other host means its own.
    at: Any = error
    where = Address(at.host or asked, at.port)
    return Refusal("MOVED" if isinstance(error, MovedError) else "ASK", at.slot_id, where)


def build_pool(url: str) -> Any:
    """Return what makes this program's connections: RESP2, and no retry anywhere.

    Every connection comes from here, those to sentinels and to a cluster's nodes too. redis-py's
    clients are not used: they retry writes by themselves. The timeouts are the link's: redis-py's
    own go through `wait_for`, which can lose a cancellation in Python 3.11.
    """
    return cast("Any", ConnectionPool).from_url(
        url,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_connect_timeout=None,
        socket_timeout=None,
    )


def link_to(url: str, script: str | None = None) -> RedisLink:
    """Return a link to one server, wherever that listens."""
    pool = build_pool(url)

    async def find() -> Any:
        return pool.make_connection()

    return RedisLink(find, script=script)


def link_to_master(place: Place, sentinels: Sentinels, script: str | None = None) -> RedisLink:
    """Return a link to whichever server the sentinels call master when it connects."""

    async def find() -> Any:
        return build_pool(place.at(await sentinels.master())).make_connection()

    return RedisLink(find, master=True, script=script)


def _servers(place: Place, sleep: Sleep) -> Servers:
    if place.kind == "cluster":
        return Cluster(place.seeds, lambda address: link_to(place.at(address)), sleep)
    make: Callable[[str | None], RedisLink] = (
        partial(link_to_master, place, Sentinels(place, link_to))
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
        self._servers = _servers(place, sleep)

    @property
    def batches(self) -> int:
        """How many pipelines of appends went out so far."""
        return self._servers.batches

    async def append(
        self, room: str, draft: Draft, *, header: bytes | None, ttl: int
    ) -> Stored | Taken:
        """Add a commit if it follows the log's top, sent until the store has answered."""
        at = await self._servers.append(room, scripts.append(room, draft, header, ttl))
        return Stored(at) if at else Taken()

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
        return self._servers.watch(room)

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

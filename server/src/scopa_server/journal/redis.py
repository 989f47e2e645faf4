"""Connections to Redis or Valkey. The only module that knows redis-py."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from redis.asyncio import ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AskError, AuthenticationError, MovedError, RedisError, ResponseError

from scopa_server.journal.link import Broken, Refusal, TurnedAway, Unreached
from scopa_server.journal.places import Address, Place
from scopa_server.journal.scripts import Command
from scopa_server.journal.sentinels import Sentinels
from scopa_server.journal.whole import keep_whole

_CONNECT_SECONDS = 3.0
_ANSWER_SECONDS = 5.0
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
        except AuthenticationError as error:
            # Redis 7.0 lets anybody connect, and says so to the first question.
            raise TurnedAway(turned_away(error)) from None
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

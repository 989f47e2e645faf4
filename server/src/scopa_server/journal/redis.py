"""Connections to Redis or Valkey. The only module that knows redis-py."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import hiredis
from redis.asyncio import ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AskError, AuthenticationError, MovedError, ResponseError

from scopa_server.journal.link import Broken, Refusal, TurnedAway, Unreached
from scopa_server.journal.places import Address, Place
from scopa_server.journal.scripts import Command
from scopa_server.journal.sentinels import Sentinels
from scopa_server.journal.wire import MORE, Wire

_CONNECT_SECONDS = 3.0
_ANSWER_SECONDS = 5.0
_CODE = re.compile(r"[A-Z]{1,20}")

pack: Callable[[Command], bytes] = cast("Any", hiredis).pack_command
"""Make a command what is sent."""


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


Holds = Callable[[], bool]
"""Whether the store is still where it was when it was last found."""


class RedisLink:
    """A `Link` over redis-py's connection, which neither retries nor reconnects by itself.

    `master`: given if each new connection is to be asked if it is to a master; `leave_others` ends
    it when another is. `script`: what is sent once to each, and called by its hash from then on.
    """

    def __init__(
        self, find: Find, *, master: Holds | None = None, script: str | None = None
    ) -> None:
        self._find = find
        self._master = master
        self._script = script
        self._hash: bytes | None = None
        self._connection: Any = None
        self._wire: Wire | None = None

    async def open(self) -> None:
        """Connect, or notice that the store has closed an idle connection and connect anew."""
        if self._wire is not None and self._wire.is_clean:
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

    async def _connect(self) -> None:
        connection = self._connection = await self._find()
        await connection.connect()
        # From here on redis-py only knows how to read an error.
        parser = hiredis.Reader(replyError=connection._parser.parse_error, notEnoughData=MORE)
        self._wire = Wire(connection._writer.transport, parser)
        if self._master is not None:
            role = await self._ask("ROLE")
            if isinstance(role, Refusal) or role[0] != b"master" or not self._master():
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
        wire = self._open_wire()
        wire.write(b"".join([pack(self._shortened(command)) for command in commands]))
        if not await wire.drain(_ANSWER_SECONDS):
            raise Broken("sending failed: the store takes nothing")

    def _open_wire(self) -> Wire:
        if self._wire is None or self._wire.end is not None:
            raise Broken("the connection is gone")
        return self._wire

    def _shortened(self, command: Command) -> Command:
        if self._hash is not None and command[0] == "EVAL" and command[1] is self._script:
            return ("EVALSHA", self._hash, *command[2:])
        return command

    async def receive(self, count: int) -> list[Any]:
        """Return the next answers, as long as they keep coming."""
        wire = self._known_wire()
        answers = await wire.take(count, _ANSWER_SECONDS)
        for place, answer in enumerate(answers):
            if isinstance(answer, Exception):
                answers[place] = self._told(answer, answers[:place])
        if len(answers) < count:
            raise Broken(_fault(wire.end), answers) from wire.end
        return answers

    async def listen(self, seconds: float) -> Any:
        """Return the next message, None if none came in time."""
        wire = self._known_wire()
        answers = await wire.take(1, seconds)
        if answers:
            answer = answers[0]
            return self._told(answer, ()) if isinstance(answer, Exception) else answer
        if wire.end is not None:
            raise Broken(_fault(wire.end)) from wire.end
        return None

    def _known_wire(self) -> Wire:
        if self._wire is None:
            raise Broken("the connection is gone")
        return self._wire

    def _told(self, error: Exception, before: Sequence[Any]) -> Refusal:
        """What an error as the answer says; `before`: the answers before it."""
        if isinstance(error, AskError):
            return _redirection(error, self._connection.host)
        if isinstance(error, ResponseError):
            return Refusal(_code(error))
        if isinstance(error, AuthenticationError):
            # Redis 7.0 lets anybody connect, and says so to the first question.
            raise TurnedAway(turned_away(error))
        raise Broken(_fault(error), before) from error

    def leave_others(self) -> None:
        """Break off what another than the master was asked: its answer would be worth nothing."""
        if self._wire is not None and self._master is not None and not self._master():
            self._wire.abort()

    async def drop(self) -> None:
        """Disconnect without waiting for the other side, whatever it hasn't taken yet."""
        wire, self._wire = self._wire, None
        if self._connection is not None:
            await self._connection.disconnect(nowait=True)
            self._connection = None
        if wire is not None:
            # redis-py, here or after a fault, lets it wait until the other side has taken all.
            wire.abort()


def _fault(error: Exception | None) -> str:
    if error is None:
        return "no answer in time"
    return f"the connection failed: {type(error).__name__}"


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
    """Return a link to whichever server the sentinels call master when it is used."""
    found: Address | None = None

    async def find() -> Any:
        nonlocal found
        found = await sentinels.master()
        sentinels.keep_watch()
        return build_pool(place.at(found)).make_connection()

    link = RedisLink(find, master=lambda: found == sentinels.latest, script=script)
    sentinels.tell(link)
    return link

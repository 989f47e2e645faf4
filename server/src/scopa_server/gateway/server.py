"""The WebSocket endpoint: handshakes, who is connected, and the way down."""

import asyncio
import re
import ssl
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, cast

import structlog
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import NegotiationError, PayloadTooBig
from websockets.http11 import Request, Response
from websockets.protocol import CONNECTING
from websockets.typing import Subprotocol

from scopa_protocol.codec import CODECS, SUBPROTOCOLS
from scopa_protocol.codes import CloseCode, ErrorCode
from scopa_protocol.frames import Error
from scopa_server.live.visitor import Visitor
from scopa_server.metrics import Limit, Refusal

from .addresses import FORWARDED, Addresses, Network
from .arrivals import Arrivals
from .connection import Connection, Desk
from .handover import Handover, Movable, opened
from .lines import Lines

log = structlog.stdlib.get_logger()

PATH: Final = "/ws"
PING_SECONDS: Final = 20
CLOSE_SECONDS: Final = 3
"""How long connections have to hear that the server goes down."""

LIMITS: Final[dict[str, Any]] = {
    "ping_interval": PING_SECONDS,
    "ping_timeout": PING_SECONDS,
    "close_timeout": CLOSE_SECONDS,
    "max_queue": 8,
}
"""What the library keeps to on each connection."""

_TURNED_AWAY: Final = {
    Refusal.FULL: "The server has as many connections as it takes; try again later.",
    Refusal.ADDRESS_FULL: (
        "Your address has as many connections as it may; close one, or try again later."
    ),
}

_HOST: Final = re.compile(r"[A-Za-z0-9.\-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the server listens and how many it lets in. `public_url`: what invites say.

    `shared`: other processes of this user may listen at the same port.
    """

    host: str
    port: int
    shared: bool = False
    public_url: str | None = None
    tls: ssl.SSLContext | None = None
    origins: Sequence[str] = ()
    proxies: Sequence[Network] = ()


class Gateway:
    """Everybody who is connected."""

    def __init__(self, endpoint: Endpoint, desk: Desk) -> None:
        self._endpoint = endpoint
        self._desk = desk
        self._connections: set[Connection] = set()
        self._each: Counter[str | None] = Counter()
        self._arrivals = Arrivals(self._full, self._opened, desk.metrics, self._fewer)
        self._addresses = Addresses(endpoint.proxies)
        self._lines = Lines(desk.bounds, self._addresses, desk.metrics, endpoint.tls)
        self._hinted = False
        self._stopping = False
        self._empty = asyncio.Event()

    @property
    def stopping(self) -> bool:
        """Whether the server is going down."""
        return self._stopping

    @asynccontextmanager
    async def listen(self) -> AsyncGenerator[int, None]:
        """Take connections; gives the port. On leaving everybody is told, then closed."""
        self._server = server = await self._open()
        if self._desk.neighbours is not None:
            self._desk.neighbours.open(self._arrivals)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            await self._stop(server)

    async def _open(self) -> Server:
        at = self._endpoint
        return await serve(
            self._serve,
            at.host,
            at.port,
            reuse_port=at.shared or None,
            subprotocols=[Subprotocol(name) for name in SUBPROTOCOLS],
            select_subprotocol=self._select,
            process_request=self._process_request,
            compression=None,
            max_size=self._desk.bounds.max_frame_bytes,
            open_timeout=self._desk.bounds.handshake_time,
            server_header=None,
            create_connection=cast(type[ServerConnection], self._lines.connection),
            **LIMITS,
        )

    async def _stop(self, server: Server) -> None:
        """What is under way is stored and answered, then everybody hears why they are closed."""
        self._stopping = True
        if self._desk.neighbours is not None:
            self._desk.neighbours.stop()
        server.close(close_connections=False)
        await self._desk.rooms.stop()
        self._fewer()
        for connection in tuple(self._connections):
            connection.stop()
        try:
            async with asyncio.timeout(CLOSE_SECONDS + 1):
                await self._empty.wait()
        except TimeoutError:
            log.warning("connections_cut", left=len(self._connections))
        # Who hangs in a handshake, or in a room that waits for its store, is waited for no more.
        for connection in tuple(self._connections):
            connection.cut()
        self._lines.cut()
        try:
            async with asyncio.timeout(1):
                await server.wait_closed()
        except TimeoutError:
            log.warning("lines_left", left=len(self._lines))

    def _process_request(self, socket: ServerConnection, request: Request) -> Response | None:
        if socket.protocol.state is not CONNECTING:
            return None
        if request.path.partition("?")[0] != PATH:
            self._desk.metrics.refused(Refusal.PATH)
            return socket.respond(
                HTTPStatus.NOT_FOUND,
                "This is a Scopa server. Play from a terminal: scopa join INVITE\n",
            )
        origins, allowed = request.headers.get_all("Origin"), self._endpoint.origins
        if allowed and any(origin not in allowed for origin in origins):
            self._desk.metrics.refused(Refusal.ORIGIN)
            return socket.respond(HTTPStatus.FORBIDDEN, "This origin may not play here.\n")
        if self._stopping:
            self._desk.metrics.refused(Refusal.RESTARTING)
            return socket.respond(HTTPStatus.SERVICE_UNAVAILABLE, "The server restarts.\n")
        return None

    async def _serve(self, socket: ServerConnection) -> None:
        line = cast(Movable, socket)
        came = line.came
        visitor = self._visitor(line) if came is None else _known(came)
        line.forget_handshake()
        fmt = SUBPROTOCOLS[socket.subprotocol] if socket.subprotocol else "json"
        connection = Connection(line, CODECS[fmt], self._desk, visitor)
        structlog.contextvars.bind_contextvars(connection=str(socket.id)[:8])
        full = self._full(visitor.counted) if came is None else None
        if full is not None:
            self._turn_away(connection, full)
        self._connections.add(connection)
        self._each[visitor.counted] += 1
        line.settle(served=True)
        if came is None:
            self._desk.metrics.connected()
        else:
            self._desk.metrics.arrived()
        if self._stopping:
            connection.stop()
        try:
            await connection.run()
        finally:
            self._connections.remove(connection)
            self._each[visitor.counted] -= 1
            if not self._each[visitor.counted]:
                del self._each[visitor.counted]
            if isinstance(socket.protocol.parser_exc, PayloadTooBig):
                self._desk.metrics.limited(Limit.FRAME_BYTES)
            # The close that was sent: not everybody answers it, and what is too big ends reading.
            sent = socket.protocol.close_sent
            if line.left:
                self._desk.metrics.moved()
            else:
                self._desk.metrics.disconnected(None if sent is None else sent.code)
            self._fewer()

    def _fewer(self) -> None:
        """A connection is gone, or isn't expected any more: the last that the end waits for?"""
        if self._stopping and not (self._connections or self._arrivals.places):
            self._empty.set()

    def _visitor(self, line: Movable) -> Visitor:
        headers = Headers() if line.request is None else line.request.headers
        local, address = self._addresses.is_local(line, headers), self._address(line, headers)
        holds = self._desk.bounds.holds("max_connections_per_address", local=local)
        return Visitor(self._base(line), address, local=local, counted=address if holds else None)

    def _address(self, socket: ServerConnection, headers: Headers) -> str:
        if FORWARDED in headers and not self._hinted and not self._addresses.is_proxy(socket):
            self._hinted = True
            log.warning("proxy_not_trusted", hint="if it is yours, name it with --trusted-proxy")
        return self._addresses.of(socket, headers)

    def _full(self, counted: str | None) -> Refusal | None:
        bounds, places = self._desk.bounds, self._arrivals.places
        if len(self._connections) + places.total() >= bounds.max_connections:
            return Refusal.FULL
        most = bounds.max_connections_per_address
        if counted is not None and self._each[counted] + places[counted] >= most:
            return Refusal.ADDRESS_FULL
        return None

    def _opened(self, came: Handover) -> Movable:
        protocol = opened(came, self._desk.bounds.max_frame_bytes)
        return self._lines.connection(protocol, self._server, came=came, **LIMITS)

    def _turn_away(self, connection: Connection, why: Refusal) -> None:
        self._desk.metrics.refused(why)
        message = _TURNED_AWAY[why]
        outbox = connection.visitor.outbox
        outbox.reply(Error(code=ErrorCode.TOO_MANY_CONNECTIONS.value, message=message))
        outbox.close(CloseCode.TRY_LATER, ErrorCode.TOO_MANY_CONNECTIONS.value, message, retry=True)

    def _base(self, socket: ServerConnection) -> str:
        """What an invite starts with: the public URL, or how this client reached the server."""
        if self._endpoint.public_url is not None:
            return self._endpoint.public_url
        scheme = "ws" if self._endpoint.tls is None else "wss"
        hosts = socket.request.headers.get_all("Host") if socket.request else []
        if len(hosts) == 1 and _HOST.fullmatch(hosts[0]):
            return f"{scheme}://{hosts[0]}"
        host, port = socket.local_address[:2]
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def _select(self, _: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
        """The first subprotocol of ours that a client offers; none if it offers none."""
        for name in offered:
            if name in SUBPROTOCOLS:
                return name
        if not offered:
            return None
        self._desk.metrics.refused(Refusal.SUBPROTOCOL)
        raise NegotiationError("this server speaks " + " and ".join(SUBPROTOCOLS))


def _known(came: Handover) -> Visitor:
    """The visitor that another process knew."""
    return Visitor(came.invite_base, came.address, local=came.local, counted=came.counted)

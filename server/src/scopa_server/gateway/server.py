"""The WebSocket endpoint: handshakes, who is connected, and the way down."""

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import structlog
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import NegotiationError
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from scopa_protocol.codec import CODECS, MAX_FRAME, SUBPROTOCOLS
from scopa_protocol.codes import CloseCode, ErrorCode
from scopa_protocol.frames import Error
from scopa_server.metrics import Refusal

from .connection import Connection, Desk

log = structlog.stdlib.get_logger()

PATH: Final = "/ws"
PING_SECONDS: Final = 20
CLOSE_SECONDS: Final = 5
"""How long connections have to hear that the server goes down."""

_HOST: Final = re.compile(r"[A-Za-z0-9.\-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the server listens and how many it lets in. `public_url`: what invites say."""

    host: str
    port: int
    public_url: str | None = None
    tls: ssl.SSLContext | None = None
    max_connections: int = 1000
    max_per_address: int = 50
    origins: Sequence[str] = ()


class Gateway:
    """Everybody who is connected."""

    def __init__(self, endpoint: Endpoint, desk: Desk) -> None:
        self._endpoint = endpoint
        self._desk = desk
        self._connections: dict[Connection, str] = {}
        self._stopping = False
        self._empty = asyncio.Event()

    @property
    def stopping(self) -> bool:
        """Whether the server is going down."""
        return self._stopping

    @asynccontextmanager
    async def listen(self) -> AsyncGenerator[int, None]:
        """Take connections; gives the port. On leaving everybody is told, then closed."""
        at = self._endpoint
        async with serve(
            self._serve,
            at.host,
            at.port,
            ssl=at.tls,
            subprotocols=[Subprotocol(name) for name in SUBPROTOCOLS],
            select_subprotocol=self._select,
            process_request=self._process_request,
            compression=None,
            max_size=MAX_FRAME,
            max_queue=8,
            open_timeout=10,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_SECONDS,
            close_timeout=CLOSE_SECONDS,
            server_header=None,
        ) as server:
            try:
                yield server.sockets[0].getsockname()[1]
            finally:
                await self._stop(server)

    async def _stop(self, server: Server) -> None:
        self._stopping = True
        server.close(close_connections=False)
        if not self._connections:
            self._empty.set()
        for connection in tuple(self._connections):
            connection.stop()
        try:
            async with asyncio.timeout(CLOSE_SECONDS + 1):
                await self._empty.wait()
        except TimeoutError:
            log.warning("connections_cut", left=len(self._connections))

    def _process_request(self, socket: ServerConnection, request: Request) -> Response | None:
        if request.path.partition("?")[0] != PATH:
            self._desk.metrics.refused(Refusal.PATH)
            return socket.respond(
                HTTPStatus.NOT_FOUND,
                "This is a Scopa server. Play from a terminal: scopa join INVITE\n",
            )
        origin = request.headers.get("Origin")
        if origin is not None and self._endpoint.origins and origin not in self._endpoint.origins:
            self._desk.metrics.refused(Refusal.ORIGIN)
            return socket.respond(HTTPStatus.FORBIDDEN, "This origin may not play here.\n")
        if self._stopping:
            self._desk.metrics.refused(Refusal.RESTARTING)
            return socket.respond(HTTPStatus.SERVICE_UNAVAILABLE, "The server restarts.\n")
        return None

    async def _serve(self, socket: ServerConnection) -> None:
        address = _address(socket)
        fmt = SUBPROTOCOLS[socket.subprotocol] if socket.subprotocol else "json"
        connection = Connection(socket, CODECS[fmt], self._desk, address, self._base(socket))
        structlog.contextvars.bind_contextvars(connection=str(socket.id)[:8])
        if self._is_full(address):
            self._turn_away(connection)
        self._connections[connection] = address
        self._desk.metrics.connected()
        try:
            await connection.run()
        finally:
            del self._connections[connection]
            self._desk.metrics.disconnected(socket.close_code)
            if self._stopping and not self._connections:
                self._empty.set()

    def _is_full(self, address: str) -> bool:
        same = sum(other == address for other in self._connections.values())
        return (
            len(self._connections) >= self._endpoint.max_connections
            or same >= self._endpoint.max_per_address
        )

    def _turn_away(self, connection: Connection) -> None:
        message = "Too many connections; try again later."
        outbox = connection.visitor.outbox
        outbox.reply(Error(code=ErrorCode.TOO_MANY_CONNECTIONS.value, message=message))
        outbox.close(CloseCode.TRY_LATER, ErrorCode.TOO_MANY_CONNECTIONS.value, message, retry=True)

    def _base(self, socket: ServerConnection) -> str:
        """What an invite starts with: the public URL, or how this client reached the server."""
        if self._endpoint.public_url is not None:
            return self._endpoint.public_url
        scheme = "ws" if self._endpoint.tls is None else "wss"
        host = socket.request.headers.get("Host", "") if socket.request else ""
        if not _HOST.fullmatch(host):
            host = f"{self._endpoint.host}:{socket.local_address[1]}"
        return f"{scheme}://{host}"

    def _select(self, _: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
        """The first subprotocol of ours that a client offers; none if it offers none."""
        for name in offered:
            if name in SUBPROTOCOLS:
                return name
        if not offered:
            return None
        self._desk.metrics.refused(Refusal.SUBPROTOCOL)
        raise NegotiationError("this server speaks " + " and ".join(SUBPROTOCOLS))


def _address(socket: ServerConnection) -> str:
    remote = socket.remote_address
    return str(remote[0]) if remote else "unknown"

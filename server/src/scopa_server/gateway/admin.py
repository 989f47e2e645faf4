"""Health and metrics over HTTP, at a port of their own: GET and HEAD only, never a WebSocket.

A request with a body gets an empty reply: the library reads none.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final, TypeAlias

import structlog
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from scopa_server.metrics import CONTENT_TYPE

from .requests import OneRequest

Metrics: TypeAlias = Callable[[], Awaitable[bytes]]
"""Everything that is counted, in Prometheus's text format."""
Ready: TypeAlias = Callable[[], Awaitable[str | None]]
"""Whether the server can take players: None, or a word why it can't."""

_OPEN_SECONDS: Final = 5.0
_READY_SECONDS: Final = 2.0

_log = structlog.get_logger()


@asynccontextmanager
async def admin(
    host: str, port: int, metrics: Metrics, ready: Ready, *, patience: float = _READY_SECONDS
) -> AsyncGenerator[int]:
    """Serve /healthz, /readyz and /metrics; gives the port, raises OSError if it can't be had."""
    pages = _Pages(metrics, ready, patience)
    async with serve(
        _never,
        host,
        port,
        process_request=pages.answer,
        open_timeout=_OPEN_SECONDS,
        compression=None,
        server_header=None,
        create_connection=OneRequest,
    ) as server:
        bound: int = server.sockets[0].getsockname()[1]
        yield bound


class _Pages:
    """What is answered to a request."""

    def __init__(self, metrics: Metrics, ready: Ready, patience: float) -> None:
        self._metrics = metrics
        self._ready = ready
        self._patience = patience

    async def answer(self, connection: ServerConnection, request: Request) -> Response:
        """The response to a request; a handshake for a WebSocket never succeeds."""
        # Older releases of the library refuse other methods before they ask.
        method = getattr(request, "method", "GET")
        if method not in {"GET", "HEAD"}:
            response = connection.respond(HTTPStatus.METHOD_NOT_ALLOWED, "GET only\n")
            response.headers["Allow"] = "GET, HEAD"
            return response
        response = await self._page(connection, request)
        response.headers["Cache-Control"] = "no-store"
        if method == "HEAD":
            response.body = b""
        return response

    async def _page(self, connection: ServerConnection, request: Request) -> Response:
        if "Upgrade" in request.headers:
            return connection.respond(HTTPStatus.BAD_REQUEST, "no WebSocket here\n")
        path = request.path.partition("?")[0]
        if path == "/healthz":
            return connection.respond(HTTPStatus.OK, "ok\n")
        if path == "/readyz":
            why = await self._why_not()
            status = HTTPStatus.SERVICE_UNAVAILABLE if why else HTTPStatus.OK
            return connection.respond(status, f"{why or 'ok'}\n")
        if path == "/metrics":
            response = connection.respond(HTTPStatus.OK, (await self._metrics()).decode())
            del response.headers["Content-Type"]
            response.headers["Content-Type"] = CONTENT_TYPE
            return response
        return connection.respond(
            HTTPStatus.NOT_FOUND, "there are /healthz, /readyz and /metrics\n"
        )

    async def _why_not(self) -> str | None:
        try:
            async with asyncio.timeout(self._patience):
                return await self._ready()
        except TimeoutError:
            return "the store does not answer"
        except Exception as error:
            # Its message may name the store, password and all.
            _log.warning("the check for readiness failed", error=type(error).__name__)
            return "the check failed"


async def _never(connection: ServerConnection) -> None:
    """No connection gets this far: every request is answered with a page."""

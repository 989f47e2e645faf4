"""Health and metrics, asked over a real socket."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest
from structlog.testing import capture_logs
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from scopa_server.gateway.admin import admin
from scopa_server.metrics import CONTENT_TYPE, Metrics


class Answer(NamedTuple):
    """An HTTP response."""

    status: int
    headers: dict[str, str]
    body: str


class Health:
    """What the check for readiness says."""

    def __init__(self) -> None:
        self.why: str | None = None
        self.error: Exception | None = None

    async def __call__(self) -> str | None:
        """The answer as it was set."""
        if self.error:
            raise self.error
        return self.why


class Served(NamedTuple):
    """A running admin side."""

    port: int
    health: Health
    metrics: Metrics

    async def raw(self, request: str) -> bytes:
        """Whatever comes back until the connection ends."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request.encode())
            return await asyncio.wait_for(reader.read(), 10)
        finally:
            writer.close()
            await writer.wait_closed()

    async def ask(self, path: str, method: str = "GET", extra: str = "") -> Answer:
        """Ask for a page."""
        answer = await self.raw(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{extra}\r\n")
        head, _, body = answer.decode().partition("\r\n\r\n")
        first, *rest = head.split("\r\n")
        headers = dict(line.split(": ", 1) for line in rest)
        return Answer(int(first.split()[1]), headers, body)


@asynccontextmanager
async def serving(patience: float = 2) -> AsyncGenerator[Served]:
    """The admin side at a free port."""
    health, metrics = Health(), Metrics()
    async with admin("127.0.0.1", 0, metrics.page, health, patience=patience) as port:
        yield Served(port, health, metrics)


async def test_it_is_healthy_while_it_answers() -> None:
    async with serving() as served:
        served.health.why = "the store does not answer"
        answer = await served.ask("/healthz")
    assert (answer.status, answer.body) == (200, "ok\n")
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Server" not in answer.headers


async def test_it_is_ready_when_the_check_says_so() -> None:
    async with serving() as served:
        assert (await served.ask("/readyz"))[::2] == (200, "ok\n")
        served.health.why = "stopping"
        assert (await served.ask("/readyz?from=probe"))[::2] == (503, "stopping\n")


async def test_a_check_that_fails_is_not_ready() -> None:
    async with serving() as served:
        served.health.error = ConnectionError("redis://:hunter2@cache")
        with capture_logs() as logged:
            answer = await served.ask("/readyz")
    assert (answer.status, answer.body) == (503, "the check failed\n")
    assert logged[0]["error"] == "ConnectionError"
    assert "hunter2" not in str(logged)


async def test_a_check_that_hangs_is_not_ready() -> None:
    async def hangs() -> str | None:
        await asyncio.Event().wait()
        return None

    async with admin("127.0.0.1", 0, Metrics().page, hangs, patience=0) as port:
        answer = await Served(port, Health(), Metrics()).ask("/readyz")
    assert (answer.status, answer.body) == (503, "the store does not answer\n")


async def test_metrics_are_served_as_prometheus_reads_them() -> None:
    async with serving() as served:
        served.metrics.connected()
        answer = await served.ask("/metrics")
    assert answer.status == 200
    assert "\nscopa_connections_open 1.0\n" in answer.body
    assert answer.headers["Content-Type"] == CONTENT_TYPE
    assert int(answer.headers["Content-Length"]) == len(answer.body.encode())


async def test_head_is_the_page_without_its_body() -> None:
    async with serving() as served:
        answer = await served.ask("/healthz", "HEAD")
    assert (answer.status, answer.body, answer.headers["Content-Length"]) == (200, "", "3")


@pytest.mark.parametrize("path", ["/", "/ws", "/healthz/", "/metrics/../healthz", "//metrics"])
async def test_there_is_nothing_else(path: str) -> None:
    async with serving() as served:
        assert (await served.ask(path)).status == 404


@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS", "PRI"])
async def test_other_methods_are_refused(method: str) -> None:
    async with serving() as served:
        answer = await served.ask("/metrics", method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/ws"])
async def test_a_websocket_is_refused(path: str) -> None:
    async with serving() as served:
        with pytest.raises(InvalidStatus) as caught:
            await connect(f"ws://127.0.0.1:{served.port}{path}", proxy=None)
    assert caught.value.response.status_code == 400


@pytest.mark.parametrize(
    "request_text",
    [
        "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
        "nonsense\r\n\r\n",
        "GET /\u00e9 HTTP/1.1\r\n\r\n",
        "GET / HTTP/9\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nmore",
        "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\nGET /readyz HTTP/1.1\r\n\r\n",
    ],
)
async def test_what_is_no_plain_request_gets_nothing_and_harms_nobody(
    request_text: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as served:
        assert b"200" not in await served.raw(request_text)
        assert (await served.ask("/healthz")).status == 200
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_port_in_use_is_an_error() -> None:
    async with serving() as served:
        with pytest.raises(OSError, match=r"in use|attempting to bind"):
            async with admin("127.0.0.1", served.port, Metrics().page, Health()):
                pytest.fail("two servers at one port")

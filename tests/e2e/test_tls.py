"""A server with a certificate of its own: which TLS, and what SIGHUP does."""

import asyncio
import shutil
import ssl
import time
from pathlib import Path
from signal import SIGHUP

import pytest

from support.raw import raw
from support.redis_server import RedisServer
from support.server_process import READY_WITHIN, NotStarted, Serve, ServerProcess

TLS = Path(__file__).parents[1] / "data" / "tls"
CREATE = {"type": "create", "id": 1, "name": "Anna", "rules": {}}


def files(cert: str, key: str, folder: Path = TLS) -> list[str]:
    """The options that name a certificate and a key."""
    return ["--tls-cert", str(folder / cert), "--tls-key", str(folder / key)]


def trusting(cert: str) -> ssl.SSLContext:
    """A client that trusts that certificate alone."""
    return ssl.create_default_context(cafile=TLS / cert)


def logged(server: ServerProcess, event: str, times: int) -> None:
    """Wait until an event is in the log so often."""
    end = time.monotonic() + READY_WITHIN
    while [entry["event"] for entry in server.entries].count(event) < times:
        assert time.monotonic() < end, f"{event} is not in the log: {server.log}"
        time.sleep(0.02)


async def test_wss_is_served_with_a_certificate(serve: Serve) -> None:
    server = serve(*files("cert.pem", "key.pem"))
    url = f"wss://localhost:{server.port}"
    async with raw(url, ssl=trusting("cert.pem")) as line:
        joined = await line.ask(CREATE)
    assert joined["invite"] == f"{url}/{joined['room']}"
    assert server.terminate() == 0


@pytest.mark.parametrize(
    ("cert", "key"),
    [("cert.pem", "other.pem"), ("cert.pem", "locked.pem"), ("key.pem", "key.pem")],
)
def test_a_pair_that_does_not_fit_is_said(serve: Serve, cert: str, key: str) -> None:
    with pytest.raises(NotStarted) as refused:
        serve(*files(cert, key))
    assert refused.value.status == 1
    assert refused.value.words == (
        "scopa-server: --tls-cert and --tls-key must name a certificate and the key that "
        "belongs to it, without a passphrase\n"
    )


async def test_a_renewed_certificate_is_shown_to_whoever_comes_next(
    serve: Serve, tmp_path: Path
) -> None:
    def install(cert: str, key: str) -> None:
        shutil.copy(TLS / cert, tmp_path / "cert.pem")
        shutil.copy(TLS / key, tmp_path / "key.pem")

    install("cert.pem", "key.pem")
    server = serve(*files("cert.pem", "key.pem", tmp_path))
    url = f"wss://localhost:{server.port}"
    async with raw(url, ssl=trusting("cert.pem")) as before:
        await before.ask(CREATE)
        install("renewed.pem", "renewed-key.pem")
        server.send(SIGHUP)
        await asyncio.to_thread(logged, server, "certificate_reloaded", 1)
        with pytest.raises(ssl.SSLCertVerificationError):
            async with raw(url, ssl=trusting("cert.pem")):
                pytest.fail("the old certificate was shown")
        async with raw(url, ssl=trusting("renewed.pem")) as after:
            assert (await after.frame())["type"] == "hello"
        for number, pair in enumerate([("cert.pem", "other.pem"), ("key.pem", "key.pem")], 1):
            install(*pair)
            server.send(SIGHUP)
            await asyncio.to_thread(logged, server, "certificate_not_reloaded", number)
            async with raw(url, ssl=trusting("renewed.pem")) as still:
                assert (await still.frame())["type"] == "hello"
        (tmp_path / "key.pem").unlink()
        server.send(SIGHUP)
        await asyncio.to_thread(logged, server, "certificate_not_reloaded", 3)
        assert (await before.ask({"type": "seat_bot", "id": 2, "seat": 1}))["re"] == [2]
    assert server.terminate() == 0


@pytest.mark.usefixtures("as_from_a_terminal")
async def test_without_a_certificate_sighup_is_the_end_in_order(serve: Serve) -> None:
    server = serve()
    async with raw(server.url) as line:
        await line.ask(CREATE)
        server.send(SIGHUP)
        frames, code = await line.end()
    assert (frames[-1]["code"], code) == ("restarting", 1012)
    assert await asyncio.to_thread(server.wait) == 0


async def test_every_worker_reads_it_anew(serve: Serve, redis: RedisServer) -> None:
    pair = files("cert.pem", "key.pem")
    server = serve("--workers", "2", *pair, store=redis.url)
    server.send(SIGHUP)
    await asyncio.to_thread(logged, server, "certificate_reloaded", 2)
    told = {e["worker"] for e in server.entries if e["event"] == "certificate_reloaded"}
    assert told == {1, 2}
    assert await asyncio.to_thread(server.terminate) == 0

"""From a URL to a journal, without a word of what is secret in it."""

import subprocess
import sys

import pytest

from scopa_server.journal import Unavailable, open_journal
from support.redis_server import free_port

WRONG = [
    "",
    "sqlite:",
    "sqlite::memory:",
    "sqlite://relative.db",
    "postgres://user:S3cret@host/db",
    "S3cret",
    "redis://",
    "redis://:S3cret@",
    "redis://user:S3cret@host:port/0",
    "redis://user:S3/cret@host:6379/0",
    "redis://:S3cret#@host:6379/0",
    "redis://host:0/0",
    "redis://:S3cret@host:70000/0",
    "redis://:S3cret@host:6379/first",
    "redis://host:6379/0?password=S3cret",
    "redis://host:6379/0?retry_on_timeout=yes",
    "redis://host:6379/0?ssl_ca_certs=x",
    "redis://host:6379/0?db=S3cret",
    "redis://[S3cret/0",
    "unix://relative.sock",
    "redis+sentinel://",
    "redis+sentinel://:S3cret@host:26379",
    "redis+sentinel://:S3cret@host:26379/",
    "redis+sentinel://:S3cret@host:26379/scopa/first",
    "redis+sentinel://user:S3/cret@host:26379/scopa",
    "redis+sentinel://:S3cret@host:port/scopa",
    "redis+sentinel://:S3cret@host:26379,/scopa",
    "redis+sentinel://:S3cret@host:26379/scopa?db=1",
    "redis+sentinel://:S3cret@host:26379/scopa?password=S3cret",
    "redis+cluster://",
    "redis+cluster://:S3cret@host:6379,host:0",
    "redis+cluster://:S3cret@host:6379/1",
    "redis+cluster://user:S3/cret@host:6379",
    "redis+cluster://:S3cret#@host:6379",
    "redis+cluster://:S3cret@host:6379?ssl_ca_certs=x",
    "redis+S3cret://host:6379",
    "unix+cluster:///S3cret.sock",
]


@pytest.mark.parametrize("url", WRONG)
async def test_wrong_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match="store's") as caught:
        await open_journal(url)
    assert "S3" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "url",
    [
        "redis://user:S3cret@127.0.0.1:{port}/3",
        "rediss://:S3cret@127.0.0.1:{port}/0?ssl_cert_reqs=none",
        "unix:///nowhere/S3cret.sock?db=2",
        "redis+sentinel://user:S3cret@127.0.0.1:{port}/scopa/3?sentinel_password=S3cret@",
        "rediss+sentinel://127.0.0.1:{port},[::1]:{port}/scopa",
        "redis+cluster://user:S3cret@127.0.0.1:{port},[::1]:{port}",
        "rediss+cluster://:S3cret@127.0.0.1:{port}/?ssl_cert_reqs=none",
    ],
)
async def test_redis_is_not_needed_at_the_opening(url: str) -> None:
    journal = await open_journal(url.format(port=free_port()))
    with pytest.raises(Unavailable) as caught:
        await journal.ping()
    assert "cret@" not in str(caught.value)
    await journal.close()


def test_sqlite_is_opened_without_redis() -> None:
    program = (
        "import asyncio, sys, scopa_server.journal as j, scopa_server.journal.sqlite;"
        "sys.exit('redis' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

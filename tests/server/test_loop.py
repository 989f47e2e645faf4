"""The event loop that a server runs on."""

import asyncio
import sys

import pytest

from scopa_server.loop import fastest


def test_uvloop_is_taken_where_it_is_installed() -> None:
    uvloop = pytest.importorskip("uvloop", reason="uvloop doesn't know this system")
    loop = fastest()()
    loop.close()
    assert isinstance(loop, uvloop.Loop)


def test_without_uvloop_asyncio_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert fastest() is asyncio.new_event_loop

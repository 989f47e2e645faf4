"""The operator's commands, on stores with real rooms in them."""

import asyncio
import contextlib
import io
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scopa_protocol import commands as c
from scopa_server.__main__ import main
from scopa_server.journal import Touch
from scopa_server.journal.opening import open_journal
from scopa_server.journal.sqlite import SqliteJournal
from scopa_server.live.loading import load_room
from scopa_server.operating import BadExport, read_export
from scopa_server.room.stored import header
from support.house import House
from support.redis_server import RedisServer, programs

MARK = 1_700_000_000_000


async def filled(store: str) -> str:
    """A store with a running match in it; gives the room's code."""
    journal = await open_journal(store)
    house = House()
    guests = await house.table()
    code = guests[0].code
    await guests[0].do(c.Pause())
    commits = house.journal.logs[code]
    loaded = await load_room(house.journal, code)
    assert loaded is not None
    await journal.restore(code, commits, header=header(loaded.room), ttl=1000)
    await journal.touch({code: Touch(1000, MARK)})
    await house.rooms.close()
    await journal.close()
    return code


async def room_in(store: str, code: str) -> tuple[object, int | None]:
    """What a store has of a room, and how far its time has run."""
    journal = await open_journal(store)
    try:
        return await load_room(journal, code), await journal.shown(code)
    finally:
        await journal.close()


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A SQLite store."""
    return f"sqlite:{tmp_path}/rooms.db"


async def operator(*words: str) -> int:
    """Run a command as the operator would, beside this test's loop."""
    return await asyncio.to_thread(main, ["rooms", *words])


async def test_rooms_are_listed_and_shown(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = await filled(store)
    assert await operator("list", "--store", store) == 0
    assert f"{code}  " in capsys.readouterr().out
    assert await operator("show", code.lower(), "--store", store) == 0
    shown = capsys.readouterr().out
    assert "seat 2  Carla  person" in shown
    assert "scopone_scientifico" in shown


@pytest.mark.parametrize("program", [*programs().values()], ids=[*programs()])
async def test_a_running_match_moves_to_redis(
    store: str,
    tmp_path: Path,
    program: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    code = await filled(store)
    capsysbinary.readouterr()
    assert await operator("export", "--store", store) == 0
    exported = tmp_path / "rooms.jsonl"
    exported.write_bytes(capsysbinary.readouterr().out)
    redis = RedisServer(program, tmp_path)
    redis.start()
    try:
        assert await operator("import", str(exported), "--store", redis.url) == 0
        assert await room_in(redis.url, code) == await room_in(store, code)
        assert await operator("import", str(exported), "--store", redis.url) == 1
    finally:
        redis.stop()


async def test_a_room_that_ends_while_all_are_exported_stops_nothing(
    store: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = await filled(store)
    capsys.readouterr()

    async def listed(journal: SqliteJournal) -> AsyncIterator[str]:
        for each in ("KRTNWXYZ", code):
            yield each

    monkeypatch.setattr(SqliteJournal, "rooms", listed)
    assert await operator("export", "--store", store) == 0
    exported = capsys.readouterr()
    assert list(read_export(exported.out.encode().splitlines())) == [code]
    assert exported.err == ""
    assert await operator("export", "KRTNWXYZ", "--store", store) == 1
    assert "no room KRTNWXYZ" in capsys.readouterr().err


async def test_a_deleted_room_is_gone(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = await filled(store)
    assert await operator("delete", code, "--store", store) == 0
    assert await room_in(store, code) == (None, None)
    assert await operator("delete", code, "--store", store) == 1
    assert "no room" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["mend"], 2, "usage"),
        ([], 2, "usage"),
        (["show"], 1, "name one room"),
        (["show", "nonsense"], 1, "name one room"),
        (["import", "/nowhere/at/all"], 1, "/nowhere/at/all can't be read: No such file"),
    ],
)
async def test_wrong_words_are_answered(
    words: list[str], status: int, says: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await filled(store)
    assert await operator(*words, "--store", store) == status
    assert says in capsys.readouterr().err


def within(folder: Path) -> list[Path]:
    """What a folder holds."""
    return list(folder.iterdir())


@pytest.mark.parametrize("word", ["list", "show", "export", "delete"])
async def test_looking_into_no_file_makes_none(
    word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rooms.db"
    words = [] if word == "list" else ["KRTNWXYZ"]
    assert await operator(word, *words, "--store", f"sqlite:{file}") == 1
    assert f"there is no file {file}" in capsys.readouterr().err
    assert not within(tmp_path)


async def test_a_store_of_another_kind_is_said_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = RedisServer(next(iter(programs().values())), tmp_path)
    server.start()
    try:
        url = server.url.replace("redis:", "redis+cluster:")
        assert await operator("list", "--store", url) == 1
    finally:
        server.stop()
    said = capsys.readouterr().err
    assert "name it with redis://" in said
    assert "fault" not in said


@pytest.mark.parametrize("user", ["", ":S3cret@"])
async def test_why_a_store_can_t_be_used_is_said(
    user: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = RedisServer(next(iter(programs().values())), tmp_path)
    server.start()
    try:
        server.ask("CONFIG", "SET", "requirepass", "another")
        url = server.url.replace("//", f"//{user}")
        assert await operator("list", "--store", url) == 1
    finally:
        server.kill()
    said = capsys.readouterr().err
    assert f"127.0.0.1:{server.port}/0 doesn't take this user and password" in said
    assert "is it running" not in said
    assert "S3cret" not in said


async def test_what_is_imported_must_be_an_export(
    store: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = await filled(store)
    capsys.readouterr()
    line = b'{"number":2,"id":"b","previous":"a","at":1,"events":{"v":1,"events":[]}}'
    for text, says in [
        (b"garbage", "line 1"),
        (line, "before any room"),
        (b'{"room":"ABCDEFGH"}\n' + line, "don't follow"),
        (b'{"room":"../etc"}', "no room's code"),
    ]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert await operator("import", "--store", store) == 1
        assert says in capsys.readouterr().err
    assert await room_in(store, code) != (None, None)


@given(st.lists(st.binary(max_size=60), max_size=6))
def test_any_file_is_read_or_refused_in_words(lines: list[bytes]) -> None:
    with contextlib.suppress(BadExport):
        read_export(lines)


async def test_a_reader_that_has_seen_enough_is_no_fault(store: str) -> None:
    await filled(store)
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "scopa_server", "rooms", "list", "--store", store]
    try:
        done = await asyncio.to_thread(
            subprocess.run, command, stdout=writing, stderr=subprocess.PIPE, timeout=30, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")

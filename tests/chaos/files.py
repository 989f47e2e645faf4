"""Faults of the SQLite file: no room to write, torn, and put back."""

import asyncio
import os
import resource
import shutil
from pathlib import Path
from typing import Final

from support.server_process import NotStarted

from .scene import Fault, Scene
from .stores import refusal


async def fill(scene: Scene) -> None:
    """The server's files may not grow: plays are refused with words; then there is room again."""
    server = scene.stage.servers[0]
    await scene.strike(limit, server.pid, 4096)
    try:
        for table in scene.tables:
            scene.note(f"whoever changes anything reads: {await refusal(scene, table)}")
        await scene.lasts(scene.scale.held)
    finally:
        limit(server.pid, None)
    await scene.recover()


def limit(pid: int, size: int | None) -> None:
    """How large a process's files may get; None: as large as they like."""
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


async def tear(scene: Scene) -> None:
    """The file is cut short while the server is down: refused with words, and whole again."""
    server = scene.stage.servers[0]
    file = server.folder / "scopa.db"
    await scene.strike(server.terminate)
    whole = await asyncio.to_thread(shutil.copy, file, file.with_suffix(".whole"))
    for size in shorter(file):
        os.truncate(file, size)
        scene.note(f"cut to {size} bytes: {await complaint(scene)}")
    shutil.move(whole, file)
    await scene.stage.start(server)
    await scene.recover()


def shorter(file: Path) -> tuple[int, ...]:
    """Lengths to cut a file to, in turn."""
    return file.stat().st_size // 2, 100, 0


async def complaint(scene: Scene) -> str:
    """What a server says that must not start."""
    try:
        await asyncio.to_thread(scene.stage.servers[0].start)
    except NotStarted as refused:
        last = refused.words.strip().splitlines()[-1]
    else:
        raise AssertionError("a torn file was taken")
    assert "restore it from a backup" in last, last
    return last.rpartition("/")[2]


FAULTS: Final = (
    Fault("disk full, then not (SQLite)", fill, sqlite=True),
    Fault("file torn, and restored (SQLite)", tear, sqlite=True),
)

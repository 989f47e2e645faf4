"""The operator's commands on the rooms in a store: `scopa-server rooms …`.

An export holds everything of a room: decks, salts and the hashes of tokens and passcodes. It is
JSON lines: for each room a line with its code, then one for each commit.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

import msgspec
from msgspec import Raw, Struct

from scopa_protocol.invite import read_code
from scopa_server.config import Config
from scopa_server.journal.interface import (
    Commit,
    Journal,
    StoreRefused,
    Touch,
    Unavailable,
)
from scopa_server.journal.opening import open_journal
from scopa_server.live.ledger import Lifetimes
from scopa_server.live.loading import Loaded, follow, load_room
from scopa_server.room.events import UnreadableLog
from scopa_server.room.state import Room
from scopa_server.room.stored import header
from scopa_server.startup import CannotStart, cannot_reach

USAGE: Final = """usage: scopa-server rooms list | show CODE | export [CODE …] | import [FILE]
       scopa-server rooms delete CODE
  --store URL and the environment say which store, as for the server; a SQLite store must not be
  in use by a running server."""


class _RoomLine(Struct, frozen=True, omit_defaults=True):
    room: str
    shown: int | None = None
    """How far its time has run, so that clocks go on elsewhere."""


class _CommitLine(Struct, frozen=True):
    number: int
    id: str
    previous: str
    at: int
    events: Raw


class BadExport(ValueError):
    """A file that is no export; the message names the line."""


def run(words: Sequence[str], config: Config) -> int:
    """Do what the words say; returns the exit status. Raises CannotStart."""
    action = _ACTIONS.get(words[0]) if words else None
    if action is None:
        sys.stderr.write(f"{USAGE}\n")
        return 2
    try:
        status = asyncio.run(_run(action, words[1:], config))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Whoever reads has seen enough; Python would complain once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


async def _run(action: "Action", words: Sequence[str], config: Config) -> int:
    if action is not _import:
        _check_there(config.store)
    async with _opened(config) as journal:
        try:
            return await action(journal, words, config)
        except BrokenPipeError:
            raise
        except (BadExport, StoreRefused, UnreadableLog, OSError) as fault:
            raise CannotStart(str(fault)) from None
        except Unavailable as trouble:
            raise cannot_reach(config.store_name, trouble) from None


def _check_there(store: str) -> None:
    """Make no new file to look into. Raises CannotStart."""
    scheme, _, path = store.partition(":")
    if scheme == "sqlite" and path and not Path(path).exists():
        raise CannotStart(f"there is no file {path}: say with --store where the rooms are")


@asynccontextmanager
async def _opened(config: Config) -> AsyncGenerator[Journal, None]:
    try:
        journal = await open_journal(config.store)
    except (StoreRefused, ValueError) as fault:
        raise CannotStart(str(fault)) from None
    try:
        yield journal
    finally:
        await journal.close()


# The actions


async def _list(journal: Journal, words: Sequence[str], config: Config) -> int:
    async for code in journal.rooms():
        loaded = await load_room(journal, code)
        if loaded is not None:
            _print(_line(loaded.room))
    return 0


async def _show(journal: Journal, words: Sequence[str], config: Config) -> int:
    room = (await _loaded(journal, _code(words))).room
    _print(_line(room))
    for number, seat in enumerate(room.seats):
        state = "away" if seat.away else seat.kind
        _print(f"  seat {number}  {seat.name or '-'}  {state}")
    _print(f"  rules {' '.join(f'{name}={value}' for name, value in room.overrides.items())}")
    _print(f"  match {room.match}, deal {room.deal_number}, score {list(room.totals)}")
    return 0


async def _export(journal: Journal, words: Sequence[str], config: Config) -> int:
    codes = [_code([word]) for word in words] or [code async for code in journal.rooms()]
    for code in codes:
        loaded = await load_room(journal, code)
        commits = await journal.read(code) if loaded else []
        if not commits:
            if words:
                raise _no_room(code)
            continue  # its time was over since it was listed
        for line in export_lines(code, commits, await journal.shown(code)):
            sys.stdout.buffer.write(line + b"\n")
    return 0


async def _import(journal: Journal, words: Sequence[str], config: Config) -> int:
    lifetimes = Lifetimes(room=config.room_ttl, match=config.match_ttl)
    with _source(words) as file:
        rooms = read_export(file)
    kept = 0
    for code, exported in rooms.items():
        commits = exported.commits
        loaded = _folded(code, commits)
        ttl = lifetimes.of(loaded.room)
        if await journal.restore(code, commits, header=header(loaded.room), ttl=ttl):
            if exported.shown is not None:
                await journal.touch({code: Touch(ttl, exported.shown)})
            _print(f"{code}  {len(commits)} commits")
        else:
            kept += 1
            _print(f"{code}  is in the store already and stays as it is")
    return 1 if kept else 0


async def _delete(journal: Journal, words: Sequence[str], config: Config) -> int:
    code = _code(words)
    await _loaded(journal, code)
    await journal.delete(code)
    _print(f"{code}  deleted")
    return 0


Action = Callable[[Journal, Sequence[str], Config], Awaitable[int]]

_ACTIONS: Final[Mapping[str, Action]] = {
    "list": _list,
    "show": _show,
    "export": _export,
    "import": _import,
    "delete": _delete,
}


# What they share


class Exported(Struct):
    """A room as an export holds it."""

    commits: list[Commit]
    shown: int | None = None


def export_lines(code: str, commits: Iterable[Commit], shown: int | None) -> Iterable[bytes]:
    """A room as lines of JSON."""
    yield msgspec.json.encode(_RoomLine(code, shown))
    for commit in commits:
        yield msgspec.json.encode(
            _CommitLine(commit.number, commit.id, commit.previous, commit.at, Raw(commit.payload))
        )


def read_export(lines: Iterable[bytes]) -> dict[str, Exported]:
    """The rooms of an export. Raises BadExport."""
    rooms: dict[str, Exported] = {}
    present: Exported | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        read = _read_line(line, number)
        if isinstance(read, _RoomLine):
            present = rooms.setdefault(_known_code(read.room, number), Exported([]))
            present.shown = read.shown
        elif present is None:
            raise BadExport(f"line {number}: a commit before any room")
        else:
            payload = bytes(read.events)
            commit = Commit(read.number, read.id, read.previous, read.at, payload)
            present.commits.append(commit)
    return rooms


def _read_line(line: bytes, number: int) -> _RoomLine | _CommitLine:
    try:
        fields = msgspec.json.decode(line, type=dict[str, Raw])
        if "room" in fields:
            return msgspec.json.decode(line, type=_RoomLine)
        return msgspec.json.decode(line, type=_CommitLine)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadExport(f"line {number} is none of an export of rooms") from None


def _known_code(text: str, number: int) -> str:
    if read_code(text) != text:
        raise BadExport(f"line {number}: that is no room's code")
    return text


def _folded(code: str, commits: list[Commit]) -> Loaded:
    loaded = follow(Loaded(Room(code=code), ""), commits)
    if loaded is None or not commits:
        raise BadExport(f"{code}: its commits don't follow one another from the first")
    return loaded


async def _loaded(journal: Journal, code: str) -> Loaded:
    loaded = await load_room(journal, code)
    if loaded is None:
        raise _no_room(code)
    return loaded


def _no_room(code: str) -> CannotStart:
    return CannotStart(f"there is no room {code} in this store")


def _code(words: Sequence[str]) -> str:
    code = read_code(words[0]) if len(words) == 1 else None
    if code is None:
        raise CannotStart("name one room by its code, such as KRTNWXYZ")
    return code


def _source(words: Sequence[str]) -> IO[bytes]:
    try:
        return Path(words[0]).open("rb") if words else sys.stdin.buffer
    except OSError as fault:
        raise BadExport(f"{words[0]} can't be read: {fault.strerror}") from None


def _line(room: Room) -> str:
    people = ", ".join(seat.name for seat in room.seats if seat.name) or "nobody"
    last = datetime.fromtimestamp(room.at / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    return f"{room.code}  {last}  {room.rules.variant}  {room.phase}  {people}"


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")

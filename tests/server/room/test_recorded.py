"""Logs, snapshots and headers that this release and earlier ones wrote: each later one reads them.

`record` below writes them, by hand, when a schema is new or has grown; what is there stays.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from scopa_protocol.proof import faults
from scopa_server.room import events as e
from scopa_server.room.apply import advance
from scopa_server.room.history import Chronicle
from scopa_server.room.project import Scene, project
from scopa_server.room.state import Room
from scopa_server.room.stored import dump, header, load, read_header
from support import recount
from support.tables import Table
from support.wander import wander

LOGS = Path(__file__).parents[2] / "data" / "logs"
PATHS = sorted(LOGS.glob("*.jsonl"))
VIEWS, STORED = ".views.json", ".stored.json"
each_log = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def commits(path: Path, after: int = 0) -> Iterator[tuple[int, int, e.Events]]:
    """Number, time and events of each commit in a recorded log."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        commit = json.loads(line)
        if number > after:
            yield number, commit["at"], e.read_events(json.dumps(commit["page"]).encode())


def shows_what_was_seen(path: Path, room: Room) -> Room:
    """Follow the log from a room on; at every view that was recorded, it is shown again."""
    views = json.loads(path.with_suffix(VIEWS).read_text())
    for number, at, events in commits(path, after=room.seq):
        room = advance(room, number, at, events)
        for viewer, recorded in views.get(str(number), {}).items():
            seat = None if viewer == "watcher" else int(viewer)
            shown = msgspec.to_builtins(project(room, seat, Scene(log="log")))
            # A later release may show more, never something else.
            assert {name: shown[name] for name in recorded} == recorded
    assert max(map(int, views)) == room.seq
    return room


@each_log
def test_a_log_recorded_by_an_earlier_release_shows_the_same(path: Path) -> None:
    shows_what_was_seen(path, Room(code="TESTROOM"))


@each_log
def test_a_snapshot_recorded_by_an_earlier_release_goes_on_the_same(path: Path) -> None:
    kept = json.loads(path.with_suffix(STORED).read_text())
    assert kept
    for number, stored in kept.items():
        room = load(json.dumps(stored["snapshot"]).encode())
        assert room.seq == int(number)
        found = read_header(json.dumps(stored["header"]).encode())
        assert found == read_header(header(room))
        shows_what_was_seen(path, room)


@each_log
def test_a_log_recorded_by_an_earlier_release_tells_its_deals(path: Path) -> None:
    past = Chronicle("TESTROOM")
    for number, at, events in commits(path):
        past.note(number, at, events)
    deals = list(past.deals.values())
    assert any(deal.count for deal in deals)
    for deal in deals:
        assert faults(deal) == []
        if deal.count is not None:
            assert [side.total for side in deal.count.sides] == recount.points(deal.rules, deal)


@pytest.mark.parametrize("schema", range(1, e.SCHEMA + 1))
def test_logs_and_snapshots_of_every_schema_are_recorded(schema: int) -> None:
    of_it = [path for path in PATHS if path.name.startswith(f"v{schema}-")]
    assert of_it
    for path in of_it:
        assert {json.loads(line)["page"]["v"] for line in path.read_text().splitlines()} == {schema}
        kept = json.loads(path.with_suffix(STORED).read_text())
        assert {stored["snapshot"]["v"] for stored in kept.values()} == {schema}


@pytest.mark.parametrize("kind", get_args(e.LogEvent), ids=lambda kind: kind.__name__)
def test_every_event_and_field_is_in_a_recorded_log(kind: type[e.Event]) -> None:
    tag = kind.__struct_config__.tag
    written = {
        name
        for path in PATHS
        for line in path.read_text().splitlines()
        for event in json.loads(line)["page"]["events"]
        if event["type"] == tag
        for name in event
    }
    assert written >= {"type", *kind.__struct_encode_fields__}, "record another log, see `record`"


class _Locked(Table):
    opened_with = "0" * 64


def record(path: Path, seed: int, steps: int, **rules: object) -> None:
    """Write a log, and what was stored and to be seen."""
    table = _Locked(seed=seed, **{"variant": "scopa", "target": 3, **rules}).fill()
    table.used_ms = 1234
    seen: dict[str, Any] = {}
    stored: dict[str, Any] = {}
    last: dict[str, Any] = {}
    for number, _ in enumerate(wander(table, seed, steps)):
        last = {
            "watcher" if viewer is None else str(viewer): project(
                table.room, viewer, Scene(log="log")
            )
            for viewer in (None, *range(len(table.room.seats)))
        }
        if number % 50 == 25:
            seen[str(table.room.seq)] = last
            stored[str(table.room.seq)] = {
                "snapshot": msgspec.Raw(dump(table.room)),
                "header": msgspec.Raw(header(table.room)),
            }
    seen[str(table.room.seq)] = last
    lines = [f'{{"at":{at},"page":{payload.decode()}}}\n' for at, payload in table.log]
    path.write_text("".join(lines))
    path.with_suffix(VIEWS).write_bytes(msgspec.json.encode(seen) + b"\n")
    path.with_suffix(STORED).write_bytes(msgspec.json.encode(stored) + b"\n")

"""Faults of Redis: killed, behind, empty, full, frozen, slow, and a room's keys deleted."""

import asyncio
from functools import partial
from signal import SIGCONT, SIGSTOP
from time import monotonic
from typing import Final

from scopa_protocol import commands as c
from scopa_protocol.codes import ErrorCode
from scopa_protocol.frames import Error, Joined
from support.player import Player

from .scene import Fault, Scene
from .stage import until
from .table import Table

UNHURRIED: Final = 60.0
"""The patience of people whose server is slow, not gone."""


async def kill(scene: Scene) -> None:
    """Redis is killed, and started with its append-only file: `always`, so nothing is missing."""
    redis = scene.stage.store
    await scene.strike(redis.kill)
    await scene.lasts(scene.scale.held)
    await asyncio.to_thread(redis.start)
    await scene.recover()


async def lose_a_second(scene: Scene) -> None:
    """Redis is killed and comes back without the last plays, as after `everysec` and a power cut.

    Everybody is shown the store's truth under a new `log`.
    """
    redis, stage = scene.stage.store, scene.stage
    length = redis.log_file.stat().st_size
    logs = {table: set(table.logs) for table in scene.tables}
    for _ in range(scene.scale.plays):
        await scene.go_on()
    await scene.strike(redis.kill)
    redis.forget(length)
    await asyncio.to_thread(redis.start)
    kept = [len(await stage.log(table.code)) for table in scene.tables]
    lost = [table.forgive(number) for table, number in zip(scene.tables, kept, strict=True)]
    scene.note(f"commits shown that the store had lost: {sum(lost)}")
    await scene.recover()
    assert any(lost)
    for table, number in zip(scene.tables, lost, strict=True):
        assert not number or table.logs - logs[table]


async def lose_all(scene: Scene) -> None:
    """Redis comes back with nothing: everybody is told, and a new table opens as ever."""
    redis = scene.stage.store
    await scene.strike(redis.kill)
    redis.forget()
    await asyncio.to_thread(redis.start)
    for table in tuple(scene.tables):
        await told(scene, table)
    await open_anew(scene, scene.scale.tables)


async def delete_a_log(scene: Scene) -> None:
    """A running room's log is deleted: its people are told, the other tables play on."""
    gone, *others = scene.tables
    await scene.strike(scene.stage.store.ask, "DEL", f"scopa:{{{gone.code}}}:log")
    await told(scene, gone)
    await scene.recover(others)
    await open_anew(scene, 1)


async def delete_the_rest(scene: Scene) -> None:
    """What else is kept of a room is deleted: whoever comes back is let in all the same."""
    first = scene.tables[0]
    for kind in ("about", "here"):
        await scene.strike(scene.stage.store.ask, "DEL", f"scopa:{{{first.code}}}:{kind}")
        for person in first.people:
            person.lose_line()
        await scene.recover()
        await scene.go_on()


async def told(scene: Scene, table: Table) -> None:
    """Wait until all of a table have read why it is over."""
    await until(lambda: all(each.over for each in (*table.people, *table.watchers)))
    words = sorted({each.over or "" for each in (*table.people, *table.watchers)})
    scene.note(f"people of a lost room read: {', '.join(words)}")
    scene.tables.remove(table)
    await table.close()


async def open_anew(scene: Scene, count: int) -> None:
    """People open other tables, at once."""
    scene.tables += await scene.stage.tables(count)
    await scene.recover(scene.tables[-count:])


async def fill(scene: Scene) -> None:
    """Redis takes nothing more (`noeviction`): plays are refused with words; then it has room."""
    redis = scene.stage.store
    await scene.strike(redis.ask, "CONFIG", "SET", "maxmemory", "1")
    for table in scene.tables:
        scene.note(f"whoever changes anything reads: {await refusal(scene, table)}")
    await scene.lasts(scene.scale.held)
    await asyncio.to_thread(redis.ask, "CONFIG", "SET", "maxmemory", "0")
    await scene.recover()


async def refusal(scene: Scene, table: Table) -> str:
    """What the host reads that changes a setting while nothing can be stored."""
    async with Player(scene.stage.urls[0]) as host:
        assert isinstance(await host.do(table.resume(0)), Joined)
        answer = await host.do(c.Configure(settings={"pace_ms": 21}))
        assert isinstance(answer, Error), answer
        assert answer.code == ErrorCode.STORAGE_UNAVAILABLE
        return answer.message


async def freeze(scene: Scene) -> None:
    """Redis stops for two seconds: everybody waits, and nobody is refused or sent away."""
    redis = scene.stage.store
    people = [person for table in scene.tables for person in table.people]
    for person in people:
        person.patience = UNHURRIED
    lines = [person.lines for person in people]
    await scene.strike(redis.send, SIGSTOP)
    try:
        await scene.lasts(scene.scale.slow)
    finally:
        redis.send(SIGCONT)
    await scene.recover()
    assert [person.lines for person in people] == lines


async def slow_one(scene: Scene) -> None:
    """One server's way to Redis takes two seconds: the tables of the other don't notice.

    A table of the other makes its rounds meanwhile, more of them than those that have to wait.
    """
    slow, fast = scene.stage.links[0], scene.stage.urls[1]
    [other] = await scene.stage.tables(1, doors=[fast])
    for table in scene.tables:
        for person in (*table.people, *table.watchers):
            person.patience = UNHURRIED
    before = await seconds_of_rounds(other)
    slow.delay = scene.scale.slow / 2
    scene.begin()
    meanwhile = await seconds_of_rounds(other)
    scene.note(f"three rounds elsewhere: {before:.2f} s before, {meanwhile:.2f} s meanwhile")
    await scene.recover()
    made = [played_since(table, scene.struck) for table in (other, *scene.tables)]
    scene.note(f"plays of people meanwhile: {made[0]} elsewhere, {made[1:]} at the slow server")
    scene.tables.append(other)
    assert made[0] > max(made[1:])
    slow.heal()


async def seconds_of_rounds(table: Table) -> float:
    """How long everybody at a table takes for three plays."""
    begun = monotonic()
    for _ in range(3):
        await until(partial(table.all_played_since, monotonic()))
    return monotonic() - begun


def played_since(table: Table, moment: float) -> int:
    """How many plays of a table's people were sent and accepted since a moment."""
    return sum(play.sent >= moment for person in table.people for play in person.accepted)


FAULTS: Final = (
    Fault("Redis killed, appendfsync always", kill),
    Fault("Redis without its last second", lose_a_second),
    Fault("Redis empty", lose_all),
    Fault("Redis full, then not", fill),
    Fault("Redis frozen for two seconds", freeze),
    Fault("Redis slow for one server", slow_one),
    Fault("a running room's log deleted", delete_a_log),
    Fault("its other keys deleted", delete_the_rest),
)

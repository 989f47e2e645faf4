"""Contenders measured in turn, A B A B, first as fast as they go and then at a pace."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, TypeAlias

from . import contenders
from .contenders import Contender
from .load import Window
from .machine import Cores
from .peers import PEERS
from .plan import Plan
from .results import Results, Row, row
from .script import record
from .wire import CODECS

Say: TypeAlias = Callable[[str], None]

STARTS: Final = {**contenders.OTHERS, **PEERS}


async def measure(plan: Plan, folder: Path, cores: Cores, results: Results, say: Say) -> None:
    """Start everything, measure it, end it."""
    async with AsyncExitStack() as stack:
        all_of_them = await _started(plan, folder, cores, stack)
        for tables in plan.tables:
            results.rows += await _saturated(plan, all_of_them, tables, say)
        for tables, pace in plan.paces:
            results.rows += await _paced(plan, all_of_them, tables, pace, say)


async def _started(
    plan: Plan, folder: Path, cores: Cores, stack: AsyncExitStack
) -> list[Contender]:
    """The contenders of the plan; the first is the one whose bytes the relays move."""

    def kept(contender: Contender) -> Contender:
        stack.push_async_callback(contender.close)
        return contender

    first = kept(contenders.on_sqlite(folder / "0", cores))
    script = await record(first.url, CODECS["json"], "json", plan.steps)
    others = [
        kept(STARTS[name](folder / str(number), cores, script))
        for number, name in enumerate(plan.others, start=1)
    ]
    return [first, *others]


async def _saturated(
    plan: Plan, all_of_them: Sequence[Contender], tables: int, say: Say
) -> list[Row]:
    for contender in all_of_them:
        await contender.grow(tables)
    found = await _in_turn(
        plan.rounds, all_of_them, lambda one: one.saturated(plan.warm, plan.seconds)
    )
    say(f"{tables} tables: done")
    return [row(one.name, tables, None, found[one.name]) for one in all_of_them]


async def _paced(
    plan: Plan, all_of_them: Sequence[Contender], tables: int, pace: float, say: Say
) -> list[Row]:
    found = await _in_turn(
        plan.paced_rounds,
        all_of_them,
        lambda one: one.paced(pace, plan.warm + 1 / pace, plan.paced_seconds),
    )
    say(f"{tables} tables at {pace:g} moves/s each: done")
    return [row(one.name, tables, pace, found[one.name]) for one in all_of_them]


async def _in_turn(
    rounds: int,
    all_of_them: Sequence[Contender],
    window: Callable[[Contender], Awaitable[Window]],
) -> dict[str, list[Window]]:
    found: dict[str, list[Window]] = {one.name: [] for one in all_of_them}
    for _ in range(rounds):
        for one in all_of_them:
            found[one.name].append(await window(one))
    return found

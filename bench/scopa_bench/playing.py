"""Contenders measured in turn, A B A B, as fast as they go; then each alone, at a pace."""

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
        for contender in all_of_them:
            await contender.leave()
        rows = [await _paced(plan, contender, say) for contender in all_of_them]
        results.rows += [row for at_one_pace in zip(*rows, strict=True) for row in at_one_pace]


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


async def _paced(plan: Plan, contender: Contender, say: Say) -> list[Row]:
    """A row for each pace. Nobody else has a table: keeping thousands of lines alive takes time."""
    found: list[Row] = []
    for tables, pace in plan.paces:
        await contender.grow(tables)
        windows = [
            await contender.paced(pace, plan.warm + 1 / pace, plan.paced_seconds)
            for _ in range(plan.paced_rounds)
        ]
        found.append(row(contender.name, tables, pace, windows))
    await contender.leave()
    say(f"{contender.name} at a pace: done")
    return found


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

"""Which appends are given up, which are sent again, and how long between."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import structlog

from scopa_server.journal import Stored, Unavailable, Unresolved
from scopa_server.journal.link import Broken, Refusal, Unreached
from scopa_server.journal.resend import Resender
from scopa_server.journal.scripts import Command

FULL = Refusal("OOM")
LOST = Broken("lost")
DOWN = Unreached("down")


class Script:
    """A link that does as it is told: `DOWN` at opening, `LOST` or an answer at receiving."""

    def __init__(self) -> None:
        self.steps: list[Any] = []
        self.sent: list[list[Command]] = []
        self.naps: list[float] = []
        self.exhausted = asyncio.Event()

    async def open(self) -> None:
        if self.steps and self.steps[0] is DOWN:
            raise self.steps.pop(0)

    async def send(self, commands: Sequence[Command]) -> None:
        self.sent.append(list(commands))

    async def receive(self, count: int) -> list[Any]:
        answers: list[Any] = []
        while len(answers) < count:
            if not self.steps:
                self.exhausted.set()
                await asyncio.Event().wait()
            step = self.steps.pop(0)
            if isinstance(step, Exception):
                raise Broken(str(step), answers)
            answers.append(step)
        return answers

    async def listen(self, seconds: float) -> Any:
        raise AssertionError("nobody listens here")

    async def drop(self) -> None:
        pass

    async def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        await asyncio.sleep(0)


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def resender(script: Script) -> AsyncIterator[Resender]:
    made = Resender(script, script.sleep)
    yield made
    await made.close(0)


async def test_nothing_sent_is_unavailable(script: Script, resender: Resender) -> None:
    script.steps = [DOWN]
    with pytest.raises(Unavailable, match="down"):
        await resender.submit("", ("A",))
    assert (script.sent, script.naps) == ([], [])


async def test_a_fault_of_ours_leaves_no_append_waiting(
    script: Script, resender: Resender, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail() -> None:
        monkeypatch.undo()
        raise ValueError

    monkeypatch.setattr(script, "open", fail)
    script.steps = [7]
    async with asyncio.timeout(30):
        assert await resender.submit("", ("A",)) == Stored(7)


async def test_refusal_of_the_first_sending_is_unavailable(
    script: Script, resender: Resender
) -> None:
    script.steps = [FULL]
    with pytest.raises(Unavailable, match="OOM"):
        await resender.submit("", ("A",))


async def test_doubt_is_resolved_through_outages_and_refusals(
    script: Script, resender: Resender
) -> None:
    script.steps = [LOST, DOWN, FULL, LOST, DOWN, 7]
    assert await resender.submit("", ("A",)) == Stored(7)
    assert script.sent == [[("A",)]] * 4


async def test_a_forgotten_script_is_taught_again(script: Script, resender: Resender) -> None:
    script.steps = [Refusal("NOSCRIPT"), 7]
    assert await resender.submit("", ("A",)) == Stored(7)
    assert script.sent == [[("A",)]] * 2


async def test_newcomers_wait_for_nobody(script: Script, resender: Resender) -> None:
    script.steps = [LOST, DOWN, 7]
    old = resender.submit("", ("A",))
    await asyncio.sleep(0)
    new = resender.submit("", ("B",))
    with pytest.raises(Unavailable):
        await new
    assert await old == Stored(7)


async def test_answered_part_isnt_sent_again(script: Script, resender: Resender) -> None:
    script.steps = [1, LOST, 2, 3]
    waiting = [resender.submit("", (name,)) for name in "ABC"]
    assert await asyncio.gather(*waiting) == [Stored(at) for at in (1, 2, 3)]
    assert script.sent == [[("A",), ("B",), ("C",)], [("B",), ("C",)]]


async def test_waits_grow_up_to_a_second(script: Script, resender: Resender) -> None:
    script.steps = [LOST, *[DOWN] * 20, 7, LOST, 8]
    assert await resender.submit("", ("A",)) == Stored(7)
    assert script.naps[0] <= 0.05
    assert all(0.5 <= nap <= 1 for nap in script.naps[6:])
    assert await resender.submit("", ("B",)) == Stored(8)
    assert script.naps[-1] <= 0.05


async def test_closing_leaves_doubt_unresolved_and_the_rest_unavailable(
    script: Script, resender: Resender
) -> None:
    doubtful = resender.submit("", ("A",))
    await script.exhausted.wait()
    unsent = resender.submit("", ("B",))
    await resender.close(0.001)
    with pytest.raises(Unresolved):
        await doubtful
    with pytest.raises(Unavailable):
        await unsent
    with pytest.raises(Unavailable):
        resender.submit("", ("C",))


async def test_long_queue_goes_out_in_pieces(script: Script, resender: Resender) -> None:
    script.steps = list(range(1, 601))
    waiting = [resender.submit("", (number,)) for number in range(600)]
    assert await asyncio.gather(*waiting) == [Stored(at) for at in range(1, 601)]
    assert [len(batch) for batch in script.sent] == [256, 256, 88]


async def test_what_it_logs_names_nobody(script: Script) -> None:
    noted: list[dict[str, Any]] = []

    async def opening() -> None:
        noted.append(structlog.contextvars.get_contextvars())

    script.open = opening  # type: ignore[method-assign]
    script.steps = [1]
    resender = Resender(script, script.sleep)
    with structlog.contextvars.bound_contextvars(connection="of who wrote first"):
        assert await resender.submit("", ("A",)) == Stored(1)
    assert noted == [{}]
    await resender.close(0)

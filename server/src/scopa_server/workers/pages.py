"""Health and metrics of all workers, as of one server."""

import asyncio
from collections.abc import Sequence

from scopa_server.metrics import merge
from scopa_server.workers.keeper import Keeper
from scopa_server.workers.line import Question


class Pages:
    """What is served at the supervisor's admin port."""

    def __init__(self, keepers: Sequence[Keeper]) -> None:
        self._keepers = keepers

    async def why_not(self) -> str | None:
        """Why nobody can take players; None if any worker can."""
        answers = await self._ask(Question.READY)
        if b"" in answers:
            return None
        return "; ".join(
            f"worker {keeper.number}: {'no answer' if answer is None else answer.decode()}"
            for keeper, answer in zip(self._keepers, answers, strict=True)
        )

    async def metrics(self) -> bytes:
        """Every worker's, labelled with its number."""
        answers = await self._ask(Question.METRICS)
        numbers = [keeper.number for keeper in self._keepers]
        restarts = [keeper.restarts for keeper in self._keepers]
        return merge(dict(zip(numbers, zip(answers, restarts, strict=True), strict=True)))

    async def _ask(self, question: Question) -> list[bytes | None]:
        return await asyncio.gather(*(keeper.ask(question) for keeper in self._keepers))

"""What is written at the end of the loop's turn, and to whom."""

import asyncio
import io
from types import SimpleNamespace
from typing import cast
from uuid import UUID

import pytest
from structlog.contextvars import bound_contextvars

from scopa_server.gateway.posting import MOST, Posting
from scopa_server.logs import logging_to

ITSELF = UUID(int=0xFA17 << 112)


class FakeLine:
    """A line that notes what is written to it; `faulty`: it can't be written to."""

    def __init__(self, written: list[bytes], *, faulty: bool = False) -> None:
        self.written = written
        self.faulty = faulty
        self.closing = False

    def write(self, data: bytes) -> None:
        """Note it."""
        if self.faulty:
            raise RuntimeError("no such line")
        self.written.append(data)

    def is_closing(self) -> bool:
        """Whether it was aborted."""
        return self.closing

    def abort(self) -> None:
        """End it."""
        self.closing = True

    def get_protocol(self) -> SimpleNamespace:
        """The connection on it."""
        return SimpleNamespace(id=ITSELF)


def line(written: list[bytes], *, faulty: bool = False) -> asyncio.WriteTransport:
    """A line to write to."""
    return cast(asyncio.WriteTransport, FakeLine(written, faulty=faulty))


async def test_frames_are_written_in_their_order_at_the_end_of_the_turn() -> None:
    posting, written = Posting(), list[bytes]()
    first, second = line(written), line(written)
    for number, each in enumerate([first, second, first]):
        posting.put(each, b"%d" % number)
    assert not written
    await asyncio.sleep(0)
    assert written == [b"0", b"1", b"2"]
    posting.put(second, b"3")
    await asyncio.sleep(0)
    assert written[3:] == [b"3"]


async def test_more_than_the_most_are_written_at_once() -> None:
    posting, written = Posting(), list[bytes]()
    one = line(written)
    for _ in range(MOST):
        posting.put(one, b"x")
    assert len(written) == MOST
    await asyncio.sleep(0)
    assert len(written) == MOST


async def test_what_is_flushed_is_written_once() -> None:
    posting, written = Posting(), list[bytes]()
    posting.put(line(written), b"x")
    posting.flush()
    await asyncio.sleep(0)
    assert written == [b"x"]


@pytest.mark.parametrize("faulty", [False, True])
async def test_what_ends_one_line_keeps_nothing_from_the_others(faulty: bool) -> None:
    posting, written = Posting(), list[bytes]()
    ended, other = line(written, faulty=faulty), line(written)
    posting.put(ended, b"lost")
    posting.put(other, b"kept")
    if not faulty:
        ended.abort()
    posting.flush()
    assert written == [b"kept"]
    assert ended.is_closing()


async def test_a_fault_is_told_of_its_own_line_and_not_of_whose_turn_it_is() -> None:
    log = io.StringIO()
    with logging_to(log, "info"), bound_contextvars(room="ABCDEFGH", connection="another"):
        posting = Posting()
        posting.put(line([], faulty=True), b"lost")
        await asyncio.sleep(0)
    entry = log.getvalue()
    assert "writer_fault" in entry
    assert str(ITSELF)[:8] in entry
    assert "ABCDEFGH" not in entry
    assert "another" not in entry

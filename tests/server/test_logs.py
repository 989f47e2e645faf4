"""Log lines: their shape, what never gets into them, and that writing them stops nobody."""

import asyncio
import contextvars
import gc
import io
import json
import logging
import os
import re
import threading
import warnings
from typing import Any

import pytest
import structlog
from structlog.contextvars import bound_contextvars

from scopa_server.log_lines import Lines
from scopa_server.logs import MASKED, logging_to, mask, plain
from scopa_server.room.events import UnreadableLog

SECRET = "hunter2"
log = structlog.get_logger()


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Always."""
        return True


class Hostile:
    """A value that can't even be shown."""

    def __repr__(self) -> str:
        """Fail."""
        raise RuntimeError(SECRET)


def entries(stream: io.StringIO) -> list[dict[str, Any]]:
    """The JSON lines that were written."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def fail() -> None:
    """Fail with a secret in a local variable."""
    token = SECRET
    raise ValueError(f"no good: {token}")


async def test_whoever_logs_names_the_worker() -> None:
    out = io.StringIO()

    async def for_everybody() -> None:
        log.info("from a task that serves all")

    with logging_to(out, worker=3):
        log.info("from the start")
        await asyncio.create_task(for_everybody(), context=contextvars.Context())
        thread = threading.Thread(target=log.info, args=("from a thread",))
        thread.start()
        thread.join()
    assert [entry["worker"] for entry in entries(out)] == [3, 3, 3]


def test_an_entry_is_an_object_on_a_line() -> None:
    out = io.StringIO()
    with logging_to(out), bound_contextvars(room="KRTNWXYZ", connection=7):
        log.info("room opened", seats=4, names=["Anna\n", "Ugo"])
    (entry,) = entries(out)
    assert entry.pop("timestamp").endswith("Z")
    assert entry == {
        "level": "info",
        "event": "room opened",
        "seats": 4,
        "names": ["Anna\\n", "Ugo"],
        "room": "KRTNWXYZ",
        "connection": 7,
    }


def test_entries_below_the_level_are_left_out() -> None:
    out = io.StringIO()
    with logging_to(out, "warning"):
        log.info("quiet")
        log.warning("loud")
    assert [entry["event"] for entry in entries(out)] == ["loud"]


@pytest.mark.parametrize(
    "field",
    ["token", "passcode", "hand", "deck", "salt", "key", "payload", "password", "secret",
     "hands", "access_key", "seat_token", "Token", "x-key"],
)  # fmt: skip
def test_fields_named_like_a_secret_are_masked(field: str) -> None:
    out = io.StringIO()
    with logging_to(out):
        log.info("x", **{field: SECRET, "deeper": [{field: {"a": SECRET}}]})
    assert SECRET not in out.getvalue()
    assert entries(out)[0][field] == MASKED


def test_what_is_no_plain_data_shows_its_type_alone() -> None:
    assert plain(Hostile()) == "<Hostile>"
    assert plain({"a": (1, b"x", None, 1.5, float("nan"))}) == {
        "a": [1, "<bytes>", None, 1.5, "nan"]
    }
    assert mask({1: ValueError(SECRET)}) == {"1": "<ValueError>"}


def test_what_is_too_much_is_cut() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert len(json.dumps(plain(endless))) < 100
    assert len(str(plain("x" * 10_000))) == 2001
    assert len(json.dumps(plain(list(range(10_000))))) < 1000


def test_an_exception_is_data_without_local_variables() -> None:
    out = io.StringIO()
    with logging_to(out):
        try:
            fail()
        except ValueError:
            log.exception("it failed")
    (entry,) = entries(out)
    (failure,) = entry["exception"]
    assert entry["level"] == "error"
    assert (failure["exc_type"], failure["exc_value"]) == ("ValueError", "")
    assert failure["frames"][-1]["name"] == "fail"
    assert set(failure["frames"][-1]) == {"filename", "lineno", "name"}
    assert SECRET not in out.getvalue()


@pytest.mark.parametrize("form", ["json", "pretty"])
def test_an_exception_s_words_hold_no_secret(form: str) -> None:
    out = io.StringIO()
    salt, token = "ab" * 32, "Ck3-_" * 6
    with logging_to(out, form=form):
        for fault in (
            KeyError("7D"),
            ValueError(f"('10B', '1S') is not in {['3C']}"),
            ExceptionGroup("several", [KeyError("5S"), ValueError(salt)]),
            ValueError(f"no seat of {token}"),
            UnreadableLog(f"the log has a gap after {token} and 7D"),
            FileNotFoundError(2, "No such file", f"/run/{SECRET}"),
        ):
            try:
                try:
                    raise fault
                except Exception as inner:
                    inner.add_note(f"held 2C, {SECRET}")
                    raise RuntimeError(f"after {token} {SECRET}") from inner
            except RuntimeError:
                log.exception("it failed")
    text = out.getvalue()
    assert not re.search(r"\b(?:10|[1-9])[DCSB]\b", text)
    assert salt not in text
    assert token not in text
    assert SECRET not in text
    # Words of ours say what they may, and so does the system's own reason.
    assert "the log has a gap" in text
    assert "No such file" in text
    assert all(name in text for name in ("KeyError", "ExceptionGroup", "RuntimeError"))
    assert "test_an_exception_s_words_hold_no_secret" in text


@pytest.mark.parametrize("form", ["auto", "pretty"])
def test_on_a_terminal_it_is_pretty(form: str) -> None:
    out = Terminal()
    with logging_to(out, form=form):
        try:
            fail()
        except ValueError:
            log.exception("it failed \x1b[2J", key=SECRET, name="Ugo\x1b]0;")
    text = out.getvalue()
    assert "it failed" in text
    assert 'raise ValueError(f"no good: {token}")' in text
    assert "\nValueError" in text
    assert SECRET not in text
    assert "\x1b[2J" not in text
    assert "\x1b]0;" not in text


def test_pretty_elsewhere_is_without_colours() -> None:
    out = io.StringIO()
    with logging_to(out, form="pretty"):
        log.info("x", a=1)
    assert "\x1b" not in out.getvalue()
    assert "a=1" in out.getvalue()


def test_libraries_log_the_same_way_from_warnings_on() -> None:
    out = io.StringIO()
    with logging_to(out, "debug"), bound_contextvars(room="KRTNWXYZ"):
        logging.getLogger("websockets.server").info("connection open")
        logging.getLogger("websockets.server").error("handler of %s failed", "x")
        logging.getLogger("redis").log(45, "between two levels")
        # Straight to our handler: pytest's own would raise.
        wrong = logging.LogRecord("asyncio", logging.WARNING, "", 0, "too %s %s", ("few",), None)
        logging.getLogger().handlers[-1].handle(wrong)
    found = [(entry["logger"], entry["level"], entry["event"]) for entry in entries(out)]
    assert found == [
        ("websockets.server", "error", "handler of x failed"),
        ("redis", "error", "between two levels"),
        ("asyncio", "warning", "a log entry could not be read"),
    ]
    assert {entry["room"] for entry in entries(out)} == {"KRTNWXYZ"}


def test_a_library_s_exception_is_written_whole() -> None:
    out = io.StringIO()
    with logging_to(out):
        try:
            fail()
        except ValueError:
            logging.getLogger("asyncio").exception("it failed")
    assert entries(out)[0]["exception"][0]["exc_type"] == "ValueError"


def test_what_asyncio_shows_of_callbacks_and_tasks_is_left_out() -> None:
    out = io.StringIO()

    async def faulty() -> None:
        loop = asyncio.get_running_loop()
        loop.set_debug(True)
        loop.slow_callback_duration = 0
        loop.call_soon(fail_with, SECRET)
        done = loop.create_future()
        loop.call_soon(done.set_result, SECRET)
        await done
        lost = asyncio.create_task(failing(SECRET), name="lost")
        await asyncio.wait([lost])

    with logging_to(out, "debug"):
        asyncio.run(faulty())
        gc.collect()
    events = [entry["event"] for entry in entries(out)]
    assert any(event.startswith("Exception in callback fail_with") for event in events)
    assert "Task exception was never retrieved" in events
    assert "Executing" in events
    assert SECRET not in out.getvalue()


def fail_with(secret: str) -> None:
    """Fail, and say why."""
    raise ValueError(secret)


async def failing(secret: str) -> None:
    """Fail in a task."""
    fail_with(secret)


def test_what_fails_in_a_thread_or_unseen_is_logged() -> None:
    out = io.StringIO()

    class Last:
        """Fails when it is thrown away."""

        def __del__(self) -> None:
            fail_with(SECRET)

    with logging_to(out):
        thread = threading.Thread(target=fail_with, args=(SECRET,))
        thread.start()
        thread.join()
        last = Last()
        del last
    told = [(entry["event"], entry["where"]) for entry in entries(out)]
    assert told == [("uncaught", "thread"), ("uncaught", "unraisable")]
    assert SECRET not in out.getvalue()


def test_python_s_warnings_are_logged() -> None:
    out = io.StringIO()
    with warnings.catch_warnings(), logging_to(out):
        warnings.simplefilter("always")
        warnings.warn("old ways", stacklevel=1)
    assert "old ways" in entries(out)[0]["event"]


def test_everything_is_as_before_when_it_ends() -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers), warnings.showwarning)
    with logging_to(io.StringIO()):
        assert root.handlers != before[1]
    assert (root.level, root.handlers, warnings.showwarning) == before
    assert not structlog.is_configured()


@pytest.mark.parametrize("form", ["json", "pretty"])
def test_an_entry_that_can_t_be_written_says_so(form: str) -> None:
    out = io.StringIO()
    with logging_to(out, form=form):
        log.info("x", number=10**5000)
        log.info("y")
    first, second = out.getvalue().splitlines()
    assert "a log entry could not be written" in first
    assert "y" in second


def test_a_closed_stream_raises_nothing() -> None:
    out = io.StringIO()
    with logging_to(out):
        out.close()
        log.info("x")


def test_a_reader_that_is_gone_raises_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as out, logging_to(out):
        log.info("x")


def test_a_reader_that_does_not_read_holds_up_nobody() -> None:
    reading, writing = os.pipe()
    lost: list[int] = []
    read: list[str] = []

    def tell(count: int) -> str:
        lost.append(count)
        return f"{count} lost"

    with os.fdopen(reading) as source, os.fdopen(writing, "w") as out:
        lines = Lines(out, tell, limit=10)
        for number in range(100):
            lines.write(str(number) + "x" * 10_000)
        reader = threading.Thread(target=lambda: read.extend(source))
        reader.start()
        lines.close(30)
        out.close()
        reader.join()
    assert sum(lost) > 0
    assert sum("lost" in line for line in read) == len(lost)
    assert len(read) - len(lost) + sum(lost) == 100
    assert read[0].startswith("0x")


def test_closing_gives_up_on_a_reader_that_does_not_read() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as source, os.fdopen(writing, "w") as out:
        lines = Lines(out, str)
        lines.write("x" * 1_000_000)
        lines.close(0)
        assert len(source.readline()) == 1_000_001
        lines.close(30)

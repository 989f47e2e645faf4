"""Logging: one line an entry, as JSON or for a terminal, from structlog and the standard library.

Only plain data is written: anything else shows as the name of its type, fields named like a secret
are masked, and an exception's words are left out where they may hold one (`log_failures`). No entry
raises, and none waits for a slow reader (`log_lines`). Bind a room and a connection with
`structlog.contextvars.bound_contextvars(room=…, connection=…)`.
"""

import json
import logging
import math
import re
import sys
import threading
from collections.abc import Callable, Generator, Mapping, MutableMapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, TextIO, TypeAlias, cast

import structlog
from structlog.contextvars import merge_contextvars
from structlog.dev import ConsoleRenderer, plain_traceback
from structlog.processors import ExceptionRenderer
from structlog.typing import ExcInfo

from scopa_server.log_failures import as_data, as_lines
from scopa_server.log_lines import Lines

Fields: TypeAlias = MutableMapping[str, Any]

MASKED: Final = "***"
_SECRETS: Final = frozenset(
    {"token", "passcode", "password", "secret", "hand", "deck", "salt", "key", "payload"}
)
_DEEPEST: Final = 12
_MOST_ITEMS: Final = 100
_LONGEST_TEXT: Final = 2000
_SHOWN_VALUE: Final = re.compile(r"[<(\n'\"]")


@contextmanager
def logging_to(
    stream: TextIO | None = None,
    level: str = "info",
    form: str = "auto",
    *,
    worker: int | None = None,
) -> Generator[None]:
    """Log to a stream (standard error) while the context lasts; at its end all is written.

    `worker`: which of several processes this is, for every entry.
    """
    out = sys.stderr if stream is None else stream
    pretty = form == "pretty" or (form == "auto" and out.isatty())
    entry = Entry(_pretty(out) if pretty else _JSON, {} if worker is None else {"worker": worker})
    lines = Lines(out, entry.lost)
    least = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[entry],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=False,
    )
    try:
        with _foreign_entries(max(least, logging.WARNING)), _uncaught():
            yield
    finally:
        lines.close()
        structlog.reset_defaults()


class Form:
    """How an entry is written: its exception, then the whole."""

    def __init__(
        self, failure: Callable[[ExcInfo], object], whole: Callable[[dict[str, Any]], str]
    ) -> None:
        self.failure = ExceptionRenderer(cast(Any, failure))
        self.whole = whole


class Entry:
    """The one step from an entry's fields to its line. It never raises."""

    def __init__(self, form: Form, always: Mapping[str, object]) -> None:
        self._form = form
        self._always = always

    def __call__(self, logger: object, level: str, fields: Fields) -> str:
        """Write an entry; of one that can't be written, say so."""
        try:
            return self._line(level, fields)
        except Exception as error:
            return json.dumps(
                {
                    "timestamp": _now(),
                    "level": level,
                    "event": "a log entry could not be written",
                    "error": type(error).__name__,
                }
            )

    def lost(self, count: int) -> str:
        """Write that entries were dropped because nobody read them."""
        return self(None, "warning", {"event": "log entries were dropped", "count": count})

    def _line(self, level: str, fields: Fields) -> str:
        everything = self._form.failure(None, level, merge_contextvars(None, level, fields))
        failure = everything.pop("exception", None)
        event = everything.pop("event", "")
        about = {**self._always, **mask(everything)}
        entry = {"timestamp": _now(), "level": level, "event": plain(event), **about}
        if failure is not None:
            entry["exception"] = failure
        return self._form.whole(entry)


def plain(value: object, depth: int = 0) -> object:
    """What may be written of a value: plain data cut to size, secrets masked by their names."""
    if isinstance(value, str):
        return _clean(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth < _DEEPEST and isinstance(value, dict):
        return mask(cast(Mapping[object, object], value), depth + 1)
    if depth < _DEEPEST and isinstance(value, list | tuple | set | frozenset):
        items = list(cast("list[object]", value))[:_MOST_ITEMS]
        return [plain(item, depth + 1) for item in items]
    return f"<{type(value).__name__}>"


def mask(fields: Mapping[Any, object], depth: int = 0) -> dict[str, object]:
    """A copy of fields as plain data, with those masked that are named like a secret."""
    some = list(fields.items())[:_MOST_ITEMS]
    return {
        _clean(str(name)): MASKED if _is_secret(str(name)) else plain(value, depth)
        for name, value in some
    }


def _is_secret(name: str) -> bool:
    words = name.lower().replace("-", "_").split("_")
    return any(word in _SECRETS or word.removesuffix("s") in _SECRETS for word in words)


def _clean(text: str) -> str:
    """Text without control characters, which could rewrite a terminal or begin a line."""
    if len(text) > _LONGEST_TEXT:
        text = text[:_LONGEST_TEXT] + "…"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# Local variables are never shown: they hold hands, decks and tokens.
_JSON: Final = Form(lambda failure: plain(as_data(failure)), json.dumps)


def _pretty(out: TextIO) -> Form:
    # The renderer's own way with exceptions shows local variables where rich is installed.
    console = ConsoleRenderer(colors=out.isatty(), exception_formatter=plain_traceback)
    return Form(_as_text, lambda entry: console(None, "", entry))


def _as_text(failure: ExcInfo) -> str:
    return "\n".join(_clean(line) for line in as_lines(failure))


@contextmanager
def _foreign_entries(least: int) -> Generator[None]:
    """Send what the libraries log the same way: websockets is chatty below warnings."""
    root, foreign = logging.getLogger(), _Foreign()
    before = root.level
    root.addHandler(foreign)
    root.setLevel(least)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.setLevel(before)
        root.removeHandler(foreign)


class _Foreign(logging.Handler):
    """Entries of the standard library's logging, made ours."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            event = record.getMessage()
        except Exception:
            event = "a log entry could not be read"
        level = next(
            (known for known in (50, 40, 30, 20) if record.levelno >= known), logging.DEBUG
        )
        # asyncio shows callbacks with their arguments, tasks with their outcome.
        event = _SHOWN_VALUE.split(event, maxsplit=1)[0].strip()
        structlog.get_logger().log(level, event, logger=record.name, exc_info=record.exc_info)


@contextmanager
def _uncaught() -> Generator[None]:
    """Log what no code of ours catches: in a thread, or while something is thrown away."""
    before = threading.excepthook, sys.unraisablehook

    def in_thread(args: threading.ExceptHookArgs) -> None:
        _uncaught_in("thread", args.exc_value)

    def unraisable(args: "sys.UnraisableHookArgs") -> None:
        _uncaught_in("unraisable", args.exc_value)

    threading.excepthook, sys.unraisablehook = in_thread, unraisable
    try:
        yield
    finally:
        threading.excepthook, sys.unraisablehook = before


def _uncaught_in(where: str, fault: BaseException | None) -> None:
    structlog.get_logger().error("uncaught", where=where, exc_info=fault)

"""Logging: one line an entry, as JSON or for a terminal, from structlog and the standard library.

Only plain data is written: anything else shows as the name of its type, fields named like a secret
are masked, and so is whatever looks like one in an exception's own words. No entry raises, and none
waits for a slow reader (`log_lines`). Bind a room and a connection with
`structlog.contextvars.bound_contextvars(room=…, connection=…)`.
"""

import json
import logging
import math
import re
import sys
import traceback
from collections.abc import Callable, Generator, Mapping, MutableMapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, TextIO, TypeAlias, cast

import structlog
from structlog.contextvars import merge_contextvars
from structlog.dev import ConsoleRenderer, plain_traceback
from structlog.processors import ExceptionRenderer
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import ExcInfo

from scopa_server.log_lines import Lines

Fields: TypeAlias = MutableMapping[str, Any]

MASKED: Final = "***"
_SECRETS: Final = frozenset(
    {"token", "passcode", "password", "secret", "hand", "deck", "salt", "key", "payload"}
)
_DEEPEST: Final = 12
_MOST_ITEMS: Final = 100
_LONGEST_TEXT: Final = 2000


# A key that is missing, or an item that is not in a list, stands in the exception's words: a card,
# a token or a salt, alone or in a list of them.
_SECRET_LOOKS: Final = re.compile(r"\b(?:10|[1-9])[DCSB]\b|[A-Za-z0-9_-]{22,}")


@contextmanager
def logging_to(
    stream: TextIO | None = None, level: str = "info", form: str = "auto"
) -> Generator[None]:
    """Log to a stream (standard error) while the context lasts; at its end all is written."""
    out = sys.stderr if stream is None else stream
    entry = Entry(_pretty(out) if form == "pretty" or (form == "auto" and out.isatty()) else _JSON)
    lines = Lines(out, entry.lost)
    least = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[entry],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=False,
    )
    try:
        with _foreign_entries(max(least, logging.WARNING)):
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

    def __init__(self, form: Form) -> None:
        self._form = form

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
        entry = {"timestamp": _now(), "level": level, "event": plain(event), **mask(everything)}
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
_as_dicts: Final = ExceptionDictTransformer(show_locals=False, use_rich=False, max_frames=40)


def _as_data(failure: ExcInfo) -> object:
    return plain([_without_secrets(one) for one in _as_dicts(failure)])


def _without_secrets(one: dict[str, Any]) -> dict[str, Any]:
    """An exception as data, its words scrubbed; a group's, too."""
    return {
        **one,
        "exc_value": _scrub(str(one.get("exc_value", ""))),
        "exc_notes": [_scrub(str(note)) for note in one.get("exc_notes", ())],
        "exceptions": [
            [_without_secrets(inner) for inner in chain] for chain in one.get("exceptions", ())
        ],
    }


def _scrub(words: str) -> str:
    return _SECRET_LOOKS.sub(MASKED, words)


_JSON: Final = Form(_as_data, json.dumps)


def _pretty(out: TextIO) -> Form:
    # The renderer's own way with exceptions shows local variables where rich is installed.
    console = ConsoleRenderer(colors=out.isatty(), exception_formatter=plain_traceback)
    return Form(_as_text, lambda entry: console(None, "", entry))


def _as_text(failure: ExcInfo) -> str:
    lines = "".join(traceback.format_exception(*failure, limit=-40)).splitlines()
    return "\n".join(map(_clean, _scrubbed(lines)))


def _scrubbed(lines: list[str]) -> Generator[str]:
    """A traceback's lines without secrets; a frame and its source, which hold no values, stay."""
    is_source = False
    for line in lines:
        is_frame = line.lstrip(" |").startswith('File "')
        yield line if is_frame or is_source else _scrub(line)
        is_source = is_frame


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
        structlog.get_logger().log(level, event, logger=record.name, exc_info=record.exc_info)

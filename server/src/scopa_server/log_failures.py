"""Exceptions as the log tells them: where and of which type, and no text that may hold a secret.

What an exception of a library says may quote what it was about: a token that is no key of a map, a
card that is not in a hand. Ours say what they may.
"""

import re
import traceback
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Final, cast

FRAMES: Final = 40
LINKS: Final = 10
OURS: Final = ("scopa_protocol.", "scopa_server.")

# A card, or a token, a salt or a deck: even in words of ours.
_SECRET_LOOKS: Final = re.compile(r"\b(?:10|[1-9])[DCSB]\b|[A-Za-z0-9_-]{22,}")

Failure = tuple[type[BaseException], BaseException, TracebackType | None]


def as_data(failure: Failure) -> list[dict[str, Any]]:
    """An exception and what led to it, the latest first."""
    return [_link(fault, how) for fault, how in _chain(failure[1])]


def as_lines(failure: Failure) -> Iterator[str]:
    """The same as Python would print it, the latest last."""
    for fault, how in reversed(list(_chain(failure[1]))):
        yield from "".join(traceback.format_tb(fault.__traceback__, limit=-FRAMES)).splitlines()
        yield from _told(_link(fault, how))
        if how != "first":
            yield "which led to:"


def _told(link: Mapping[str, Any]) -> Iterator[str]:
    said = link["exc_value"]
    yield f"{link['exc_type']}: {said}" if said else str(link["exc_type"])
    for members in link.get("exceptions", ()):
        for member in members:
            yield from (f"  | {line}" for line in _told(member))


def what(fault: BaseException) -> str:
    """What an exception says, if that can hold no secret."""
    if type(fault).__module__.startswith(OURS):
        return _SECRET_LOOKS.sub("***", str(fault))
    return (fault.strerror or "") if isinstance(fault, OSError) else ""


def _chain(fault: BaseException) -> Iterator[tuple[BaseException, str]]:
    """An exception, then each that it came from, and how it is told."""
    seen: set[int] = set()
    link: BaseException | None = fault
    how = "first"
    while link is not None and id(link) not in seen and len(seen) < LINKS:
        yield link, how
        seen.add(id(link))
        how = "cause" if link.__cause__ is not None else "context"
        hidden = link.__suppress_context__
        link = link.__cause__ or (None if hidden else link.__context__)


def _link(fault: BaseException, how: str) -> dict[str, Any]:
    stack = traceback.StackSummary.extract(
        traceback.walk_tb(fault.__traceback__), lookup_lines=False
    )
    told: dict[str, Any] = {
        "exc_type": type(fault).__name__,
        "exc_value": what(fault),
        "is_cause": how == "cause",
        "frames": [
            {"filename": frame.filename, "lineno": frame.lineno, "name": frame.name}
            for frame in stack[-FRAMES:]
        ],
    }
    if isinstance(fault, BaseExceptionGroup):
        members = cast("BaseExceptionGroup[BaseException]", fault).exceptions
        told["exceptions"] = [as_data((type(one), one, None)) for one in members[:LINKS]]
    return told

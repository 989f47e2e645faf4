"""As many open files as connections need: each is one, and often only 1024 are allowed at first."""

import sys
from typing import Final

import structlog

log = structlog.stdlib.get_logger()

SPARE: Final = 500
"""Files beside connections: lines being opened or turned away, the store, the log, the program."""


def allow(connections: int) -> None:
    """Allow this process as many as it needs, or as it may have: then say so."""
    if sys.platform == "win32":
        return
    import resource

    needed = connections + SPARE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    except (OSError, ValueError):
        most = soft
    if most < needed:
        log.warning(
            "few_open_files",
            allowed=most,
            hint=f"raise the limit (ulimit -n) to {needed}, or lower --max-connections",
        )

"""Files that only their owner may read, whole at any moment, whoever else writes them."""

import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Be the only process of this user that changes what is in a folder, which has to be there.

    Windows has no such lock: there the last of two that write at once wins.
    """
    if os.name == "nt":
        yield
        return
    import fcntl

    handle = os.open(folder / ".lock", os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)

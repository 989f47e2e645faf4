"""Fuzz the decoder and the room with atheris: `PYTHONPATH=tests python -m fuzz FOLDER [...]`.

FOLDER keeps what was found to be new; further words go to libFuzzer, as in `-max_total_time=300`.
Atheris isn't among the development tools: `pip install atheris` (Linux, Python 3.11 to 3.13).
Without it, `--worst` shows which frames cost the decoder and the rooms most, and `--dearest` which
take a gateway's loop longest.
"""

import hashlib
import sys
import time
from pathlib import Path

from structlog.testing import capture_logs

from fuzz import dearest, target
from scopa_protocol.codec import Format

ROUNDS = 5
SHOWN = 12


def fuzz(folder: Path, words: list[str]) -> None:
    """Run until something is found or the time is over. The first byte chooses the encoding."""
    import atheris

    atheris.instrument_all()
    folder.mkdir(parents=True, exist_ok=True)
    for number, fmt in enumerate(target.FORMATS):
        for data in target.seeds(fmt):
            whole = bytes([number]) + data
            (folder / hashlib.sha256(whole).hexdigest()[:16]).write_bytes(whole)

    def once(data: bytes) -> None:
        if data:
            target.check(data[1:], target.FORMATS[data[0] % len(target.FORMATS)])

    atheris.Setup([sys.argv[0], str(folder), "-max_len=16384", *words], once)
    atheris.Fuzz()


def worst() -> None:
    """Time every first frame through the decoder and the rooms."""
    found: list[tuple[float, str, bytes]] = []
    for fmt in target.FORMATS:
        found += [(_fastest(data, fmt), fmt, data) for data in target.seeds(fmt)]
    found.sort(reverse=True)
    tries = len(target.PHASES) * len(target.ROLES)
    sys.stdout.write(f"The slowest of {len(found)} frames, each decoded by a server and a client\n")
    sys.stdout.write(f"and, where it is a command, given to {tries} rooms:\n")
    for seconds, fmt, data in found[:SHOWN]:
        sys.stdout.write(f"{seconds * 1000:8.2f} ms  {fmt:8}{len(data):6} bytes  {data[:60]!r}\n")


def longest() -> None:
    """Time the dearest frames there are through a whole gateway."""
    with capture_logs():
        costs = dearest.dearest()
    sys.stdout.write(
        f"What a gateway's loop takes for the dearest of {len(costs)} frames, in all\n"
    )
    sys.stdout.write("and at one stretch:\n")
    for cost in costs[:SHOWN]:
        sys.stdout.write(
            f"{cost.whole * 1000:8.2f} ms {cost.stretch * 1000:6.2f} ms  {cost.fmt:8}"
            f"{cost.size:6} bytes  {cost.stage}: {cost.what!a}\n"
        )


def _fastest(data: bytes, fmt: Format) -> float:
    took: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        target.check(data, fmt)
        took.append(time.perf_counter() - start)
    return min(took)


if __name__ == "__main__":
    if sys.argv[1:] == ["--worst"]:
        worst()
    elif sys.argv[1:] == ["--dearest"]:
        longest()
    elif len(sys.argv) > 1:
        fuzz(Path(sys.argv[1]), sys.argv[2:])
    else:
        sys.exit(__doc__)

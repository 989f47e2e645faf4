"""A real server's store is not filled, and whoever plays beside that notices nothing."""

import time
from collections import Counter
from pathlib import Path

from growth.meddling import KINDS, LIMITS, Seen, meddle
from scopa_server.bounds import Bounds
from support.server_process import ServerProcess
from support.sqlite_log import stored

SECONDS = 60
CHANGES = ("pauses", "configures", "seats_bots", "wanders", "talks")


def held_up(seen: Seen) -> bool:
    """Whether everybody who does harm was told to wait, and the others have played a while."""
    return {(kind, "too_fast") for kind in CHANGES} <= seen.answers.keys() and len(seen.waits) > 8


async def test_who_would_fill_the_store_is_held_up_and_nobody_else(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, *LIMITS, "--max-frames-per-second", "100")
    server.start()
    try:
        begun = time.monotonic()
        seen = await meddle(server.url, CHANGES, SECONDS, held_up)
        minutes = (time.monotonic() - begun) / 60
        page = server.page("/metrics")[1]
    finally:
        server.kill()
    assert held_up(seen)
    assert not seen.refused
    sizes = Counter(room for room, _ in stored(tmp_path / "scopa.db")).values()
    # As many as may come at once, and then at a pace; who leaves is not counted.
    most = 2 * Bounds().max_changes_per_minute * (1 + minutes) + Bounds().max_talk_per_minute
    assert len(sizes) == len(CHANGES) + 1
    assert max(sizes) <= most
    assert 'scopa_limits_met_total{limit="changes"}' in page
    assert set(CHANGES) <= KINDS.keys()

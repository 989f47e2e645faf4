"""Two clients of one machine that write at once: nothing is lost, torn or left lying about."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from scopa_cli.commitments import CommitmentStore, key
from scopa_cli.private import locked, write_private
from scopa_cli.tokens import HeldSeat, SeatStore
from support.server_frames import CODE

SERVER = "ws://127.0.0.1:8765/ws"
ROUNDS = 60
COMMITTING = """
import sys
from pathlib import Path
from scopa_cli.commitments import CommitmentStore, key
store, who = CommitmentStore(Path(sys.argv[1])), int(sys.argv[2])
for deal in range(int(sys.argv[3])):
    store.add({server!r}, {room!r}, key(who, deal), f"{{who}}-{{deal}}")
"""
KEEPING = """
import sys
from pathlib import Path
from scopa_cli.tokens import HeldSeat, SeatStore
store, who = SeatStore(Path(sys.argv[1])), int(sys.argv[2])
for seat in range(int(sys.argv[3])):
    for token in ("shared" * 6, f"{{who}}" * 32):
        room = {room!r} if seat % 2 else None
        held = HeldSeat(server={server!r}, room=room, seat=seat, name="Anna", token=token)
        store.keep(held)
"""


def both(code: str, folder: Path) -> list[subprocess.Popen[bytes]]:
    """Two processes that write into a folder."""
    program = code.format(server=SERVER, room=CODE)
    words = [sys.executable, "-c", program, str(folder)]
    return [
        subprocess.Popen([*words, str(who), str(ROUNDS)], stderr=subprocess.PIPE) for who in (1, 2)
    ]


def ended(processes: list[subprocess.Popen[bytes]]) -> None:
    """Wait for both; neither may have failed."""
    for process in processes:
        _, words = process.communicate(timeout=60)
        assert process.returncode == 0, words.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no lock of this kind")
def test_no_commitment_is_lost_between_two_clients(tmp_path: Path) -> None:
    ended(both(COMMITTING, tmp_path))
    seen = CommitmentStore(tmp_path).of_room(SERVER, CODE)
    assert seen == {key(who, deal): [f"{who}-{deal}"] for who in (1, 2) for deal in range(ROUNDS)}


def test_two_clients_may_keep_seats_at_once(tmp_path: Path) -> None:
    store = SeatStore(tmp_path)
    writing = both(KEEPING, tmp_path)
    # Each is kept where a room's seats are, then where those without a room are: the files of one
    # seat come and go, and one of them is always left.
    while any(process.poll() is None for process in writing):
        for path in tmp_path.glob("*/*.json"):
            assert is_whole(path)
    ended(writing)
    held = {seat.token: seat.seat for seat in store.all()}
    assert held == dict.fromkeys(("shared" * 6, "1" * 32, "2" * 32), ROUNDS - 1)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)
    assert {path.suffix or path.name for path in files} == {".json", ".lock"}


def is_whole(path: Path) -> bool:
    """Whether a file holds a seat, if it is there at all."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return True
    return text.startswith(b"{") and text.endswith(b"}")


def test_a_lock_is_private_and_ends_with_its_block(tmp_path: Path) -> None:
    for _ in range(2):
        with locked(tmp_path):
            write_private(tmp_path / "x", b"1")
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in tmp_path.iterdir())


def test_a_draft_can_be_read_by_nobody_else_even_before_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []

    def looked(_: int) -> None:
        modes.extend(stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir())

    monkeypatch.setattr("os.fsync", looked)
    write_private(tmp_path / "x", b"1")
    assert modes == [0o600]


def test_a_seat_prints_nothing_of_its_token() -> None:
    seat = HeldSeat(server=SERVER, room=CODE, seat=1, name="Anna", token="s3cr3t" * 6)
    assert "s3cr3t" not in f"{seat} {seat!r} {[seat]} {seat!s}"

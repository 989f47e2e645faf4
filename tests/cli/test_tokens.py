"""Seat tokens on disk: private, whole, and found again."""

import os
import stat
from pathlib import Path

import pytest
from msgspec import structs

from scopa_cli.seating import Seating
from scopa_cli.tokens import HeldSeat, SeatStore, new_token
from support.server_frames import CODE, joined, lobby, update

SERVER = "ws://127.0.0.1:8765/ws"


def a_seat(**changes: object) -> HeldSeat:
    """A seat that the server gave."""
    held = HeldSeat(server=SERVER, room=CODE, seat=1, name="Anna", token="a" * 32)
    return structs.replace(held, **changes)


@pytest.fixture
def store(tmp_path: Path) -> SeatStore:
    return SeatStore(tmp_path / "state" / "seats")


def files(store: SeatStore) -> list[Path]:
    return [path for path in store.folder.rglob("[!.]*") if path.is_file()]


def test_a_token_is_long_and_new_each_time() -> None:
    tokens = {new_token() for _ in range(50)}
    assert len(tokens) == 50
    assert all(22 <= len(token) <= 64 for token in tokens)


def test_files_and_folders_are_private(store: SeatStore) -> None:
    old = os.umask(0)
    try:
        store.keep(a_seat())
    finally:
        os.umask(old)
    [path] = files(store)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (store.folder, path.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_was_open_is_closed(store: SeatStore) -> None:
    store.folder.mkdir(parents=True, mode=0o755)
    store.keep(a_seat())
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700


def test_seats_are_kept_one_a_file_and_found_by_room(store: SeatStore) -> None:
    mine, other = a_seat(), a_seat(seat=0, name="Bruno", token="b" * 32)
    elsewhere = a_seat(server="wss://else.where/ws", token="c" * 32)
    for seat in (mine, other, elsewhere):
        store.keep(seat)
    assert len(files(store)) == 3
    assert [seat.name for seat in store.of_room(CODE, SERVER)] == ["Bruno", "Anna"]
    assert len(store.of_room(CODE)) == 3


def test_a_seat_moves_without_leaving_a_file_behind(store: SeatStore) -> None:
    store.keep(a_seat(room=None, seat=None))
    store.keep(a_seat(seat=2))
    [path] = files(store)
    assert path.name.startswith(CODE)
    store.drop("a" * 32)
    assert not files(store)


def test_a_servers_room_never_names_a_file_elsewhere(store: SeatStore) -> None:
    store.keep(a_seat(room="../../../etc/x"))
    [path] = files(store)
    assert path.parent.parent == store.folder


def test_a_write_that_fails_leaves_the_old_file_whole(
    store: SeatStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.keep(a_seat())

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.keep(a_seat(seat=3))
    assert [seat.seat for seat in store.all()] == [1]
    assert len(files(store)) == 1


def test_unreadable_files_are_passed_over(store: SeatStore) -> None:
    store.keep(a_seat())
    (files(store)[0].parent / "broken-0.json").write_bytes(b"{")
    assert len(store.all()) == 1


def test_a_request_without_an_answer_is_found_when_its_process_has_ended(store: SeatStore) -> None:
    asked = a_seat(room=None, seat=None, process=os.getpid())
    store.keep(asked)
    assert store.unanswered(SERVER, None) is None
    store.keep(structs.replace(asked, process=2**22 + 1))
    found = store.unanswered(SERVER, None)
    assert found is not None
    assert found.token == asked.token
    assert store.unanswered(SERVER, CODE) is None


def test_a_token_is_never_shown() -> None:
    assert "a" * 32 not in repr(a_seat())


def test_a_seat_is_kept_before_it_is_asked_for_and_follows_the_server(store: SeatStore) -> None:
    seating = Seating(store, a_seat(room=None, seat=None))
    seating.ask()
    assert [seat.process for seat in store.all()] == [os.getpid()]
    seating.joined(joined(lobby("Anna", None)))
    [held] = store.all()
    assert (held.room, held.seat, held.process) == (CODE, 0, None)
    seating.moved(update(lobby(None, "Anna", you=1)))
    assert [seat.seat for seat in store.all()] == [1]
    seating.withdraw()
    assert store.all()
    seating.drop()
    assert not store.all()


def test_a_bots_seat_is_kept_under_the_name_of_who_comes_to_it(store: SeatStore) -> None:
    seating = Seating(store, a_seat(seat=None, name="Zoe"))
    waits = lobby("Anna", "Arlecchino", you=1)
    bots = structs.replace(waits.seats[1], kind="bot", reserved="Zoe")
    waits = structs.replace(waits, seats=[waits.seats[0], bots])
    seating.joined(joined(waits))
    assert [(seat.seat, seat.name) for seat in store.all()] == [(1, "Zoe")]
    seating.moved(update(waits))
    assert [seat.name for seat in store.all()] == ["Zoe"]


def test_a_name_kept_wrong_is_put_right(store: SeatStore) -> None:
    seating = Seating(store, a_seat(name="Arlecchino"))
    seating.moved(update(lobby("Anna", "Zoe", you=1)))
    assert [(seat.seat, seat.name) for seat in store.all()] == [(1, "Zoe")]


def test_a_full_disk_in_the_middle_of_a_match_is_survived(
    store: SeatStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    seating = Seating(store, a_seat(seat=None))
    seating.ask()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    seating.joined(joined(lobby("Anna", None)))
    assert seating.confirmed
    assert [seat.token for seat in store.all()] == ["a" * 32]

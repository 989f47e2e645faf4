"""Each life of a worker is introduced to all the others, and to no dead one."""

import errno
import os
import socket
from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest

from scopa_server.workers.switchboard import Switchboard


class Life:
    """A worker's end of its introductions."""

    def __init__(self, board: Switchboard, number: int) -> None:
        end = board.begin(number)
        assert end is not None
        self.end = end
        self.lines: dict[int, socket.socket] = {}

    def hear(self) -> dict[int, socket.socket]:
        """The newest line to each other worker."""
        self.end.setblocking(False)
        while True:
            try:
                data, files, _, _ = socket.recv_fds(self.end, 1, 1)
            except BlockingIOError:
                return self.lines
            if not data:
                return self.lines
            if data[0] in self.lines:
                self.lines[data[0]].close()
            self.lines[data[0]] = socket.socket(fileno=files[0])

    def close(self) -> None:
        """End it."""
        for line in (self.end, *self.lines.values()):
            line.close()


class Lives:
    """Workers and their supervisor."""

    def __init__(self) -> None:
        self.board = Switchboard()
        self.all: list[Life] = []

    def begin(self, number: int) -> Life:
        """A worker begins."""
        life = Life(self.board, number)
        self.all.append(life)
        return life


@pytest.fixture
def lives() -> Iterator[Lives]:
    """All are ended after the test."""
    lives = Lives()
    yield lives
    for life in lives.all:
        life.close()
    for number in range(10):
        lives.board.end(number)


def is_between(one: socket.socket, other: socket.socket) -> bool:
    """Whether what is said at one end is heard at the other, whole."""
    one.send(b"x" * 1000)
    return other.recv(2000) == b"x" * 1000


def test_all_have_a_line_to_each_other(lives: Lives) -> None:
    workers = {number: lives.begin(number) for number in (1, 2, 3)}
    for number, life in workers.items():
        assert set(life.hear()) == {1, 2, 3} - {number}
    for one, other in [(1, 2), (1, 3), (2, 3), (3, 2)]:
        assert is_between(workers[one].lines[other], workers[other].lines[one])


def test_who_lives_again_gets_new_lines(lives: Lives) -> None:
    one, two = lives.begin(1), lives.begin(2)
    old = one.hear()[2]
    two.close()
    lives.board.end(2)
    # Its end is noticed: nobody else holds the line.
    assert old.recv(10) == b""
    again = lives.begin(2)
    assert is_between(one.hear()[2], again.hear()[1])


def test_nobody_is_introduced_to_who_is_gone(lives: Lives) -> None:
    lives.begin(1).close()
    lives.begin(2)
    lives.board.end(1)
    three = lives.begin(3)
    assert set(three.hear()) == {2}


@pytest.mark.parametrize("number", [errno.EPROTONOSUPPORT, errno.EOPNOTSUPP, None])
def test_where_there_are_no_such_sockets_there_are_no_introductions(
    number: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if number is None:
        monkeypatch.delattr(socket, "SOCK_SEQPACKET")
    else:
        monkeypatch.setattr(socket, "socketpair", failing(number))
    assert Switchboard().begin(1) is None


def test_a_worker_begins_without_lines_where_there_are_no_files_left(
    lives: Lives, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = lives.begin(1)
    pairs, calls = socket.socketpair, iter([True])

    def last(*kind: int) -> tuple[socket.socket, socket.socket]:
        return pairs(*kind) if next(calls, False) else failing(errno.EMFILE)()

    monkeypatch.setattr(socket, "socketpair", last)
    two = lives.begin(2)
    monkeypatch.undo()
    assert (one.hear(), two.hear()) == ({}, {})
    lives.begin(3)
    assert (set(one.hear()), set(two.hear())) == ({3}, {3})
    monkeypatch.setattr(socket, "socketpair", failing(errno.EMFILE))
    with pytest.raises(OSError, match="Too many open files"):
        lives.board.begin(4)


def failing(number: int) -> Callable[..., NoReturn]:
    """What makes no pair."""

    def fail(*_: int) -> NoReturn:
        raise OSError(number, os.strerror(number))

    return fail


def test_one_that_hangs_keeps_nobody_from_beginning(lives: Lives) -> None:
    lives.begin(1)
    for _ in range(1000):
        lives.begin(2).close()
    two = lives.begin(2)
    three = lives.begin(3)
    assert is_between(two.hear()[3], three.hear()[2])

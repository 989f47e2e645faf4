"""Lines between the workers, made by their supervisor: each life of a worker gets new ones.

They are pairs of sockets without names: no file is left behind, and nobody else gets at them.
"""

import socket
from contextlib import suppress


class Switchboard:
    """Introduces each worker to all that live."""

    def __init__(self) -> None:
        self._ends: dict[int, socket.socket] = {}

    def begin(self, number: int) -> socket.socket | None:
        """The worker's end of what it is introduced by; None where there are no such sockets.

        Raises OSError.
        """
        self.end(number)
        if not hasattr(socket, "SOCK_SEQPACKET") or not hasattr(socket, "send_fds"):
            return None
        ours, theirs = _pair()
        for other, end in self._ends.items():
            one, another = _pair()
            with one, another:
                _introduce(end, number, one)
                _introduce(ours, other, another)
        self._ends[number] = ours
        return theirs

    def end(self, number: int) -> None:
        """A worker's life is over."""
        end = self._ends.pop(number, None)
        if end is not None:
            end.close()


def _pair() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    return ours, theirs


def _introduce(end: socket.socket, number: int, line: socket.socket) -> None:
    # Who hangs, or is dead, goes without: its connections are served where they are.
    with suppress(OSError):
        socket.send_fds(end, [bytes([number])], [line.fileno()])

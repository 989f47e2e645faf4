"""Lines between the workers, made by their supervisor: each life of a worker gets new ones.

They are pairs of sockets without names: no file is left behind, and nobody else gets at them.
"""

import errno
import socket
from contextlib import suppress
from typing import Final, TypeAlias

_Pair: TypeAlias = tuple[socket.socket, socket.socket]

_UNKNOWN: Final = {errno.EAFNOSUPPORT, errno.EOPNOTSUPP, errno.EPROTONOSUPPORT, errno.EPROTOTYPE}
"""What systems say that have no such pairs."""


class Switchboard:
    """Introduces each worker to all that live."""

    def __init__(self) -> None:
        self._ends: dict[int, socket.socket] = {}

    def begin(self, number: int) -> socket.socket | None:
        """A worker's end of what it is introduced by; None where there is no such thing.

        Raises OSError.
        """
        self.end(number)
        try:
            ours, theirs = _pair()
        except AttributeError:
            return None
        except OSError as fault:
            if fault.errno in _UNKNOWN:
                return None
            raise
        for other, end in self._ends.items():
            _introduce(other, end, number, ours)
        self._ends[number] = ours
        return theirs

    def end(self, number: int) -> None:
        """A worker's life is over."""
        end = self._ends.pop(number, None)
        if end is not None:
            end.close()


def _pair() -> _Pair:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    return ours, theirs


def _introduce(one: int, to_one: socket.socket, other: int, to_other: socket.socket) -> None:
    """Give two workers a line to each other.

    Who hangs goes without, and so does everybody where there are no files left: connections are
    then served where they are.
    """
    with suppress(OSError):
        near, far = _pair()
        with near, far:
            socket.send_fds(to_one, [bytes([other])], [near.fileno()])
            socket.send_fds(to_other, [bytes([one])], [far.fileno()])

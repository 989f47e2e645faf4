"""A port is held for the workers, shared with them, and with nobody else."""

import errno
import socket

import pytest

from scopa_server.workers.ports import reserved


def listening(port: int, *, sharing: bool) -> socket.socket:
    """A socket that listens as a worker's does, or as a stranger's."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, sharing)
    try:
        made.bind(("127.0.0.1", port))
        made.listen()
    except OSError:
        made.close()
        raise
    return made


def test_workers_share_the_port_that_was_found() -> None:
    with (
        reserved("127.0.0.1", 0) as port,
        listening(port, sharing=True) as one,
        listening(port, sharing=True) as other,
    ):
        assert one.getsockname() == other.getsockname() == ("127.0.0.1", port)
        with pytest.raises(OSError, match="in use"):
            listening(port, sharing=False)


def test_a_port_held_by_nobody_else_is_held_again() -> None:
    with reserved("127.0.0.1", 0) as port:
        pass
    with reserved("127.0.0.1", port) as again:
        assert again == port


@pytest.mark.parametrize("sharing", [True, False])
def test_a_port_in_use_is_refused(sharing: bool) -> None:
    with listening(0, sharing=sharing) as one:
        holding = reserved("127.0.0.1", one.getsockname()[1])
        with pytest.raises(OSError, match="in use") as caught:
            holding.__enter__()
    assert caught.value.errno == errno.EADDRINUSE


def test_a_port_held_for_workers_that_don_t_listen_yet_is_refused() -> None:
    with reserved("127.0.0.1", 0) as port:
        with pytest.raises(OSError, match="in use"):
            reserved("127.0.0.1", port).__enter__()
        with pytest.raises(OSError, match="in use"):
            listening(port, sharing=False)


@pytest.mark.parametrize("sharing", [True, False])
def test_connections_of_a_server_that_has_ended_are_no_hindrance(sharing: bool) -> None:
    with listening(0, sharing=sharing) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            server.accept()[0].close()
            assert client.recv(1) == b""
    with reserved("127.0.0.1", port) as held, listening(held, sharing=True):
        assert held == port

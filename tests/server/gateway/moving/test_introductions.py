"""A worker hears of the others from its supervisor, as often as they begin to live."""

import socket

from scopa_server.gateway.neighbour import Ready
from scopa_server.gateway.neighbours import Neighbours
from scopa_server.metrics import Metrics
from support.fake_time import FakeTime
from support.front import until
from support.next_door import Stranger, line


def introduced(introductions: socket.socket, number: int) -> Stranger:
    """Introduce another worker, which is the test."""
    ours, theirs = line()
    with theirs:
        socket.send_fds(introductions, [bytes([number])], [theirs.fileno()])
    return Stranger(ours)


async def test_others_are_met_whenever_they_begin() -> None:
    ours, theirs = line()
    neighbours = Neighbours(1, 64, FakeTime(), Metrics())
    neighbours.listen(theirs)
    two, many = introduced(ours, 2), introduced(ours, 64)
    await until(lambda: [n.number for n in neighbours.all] == [2, 64])
    assert not any(n.ready for n in neighbours.all)
    for stranger in (two, many):
        stranger.say(Ready())
    await until(lambda: all(n.ready for n in neighbours.all))

    # It dies, and its next life is not ready yet.
    two.end.close()
    await until(lambda: [n.number for n in neighbours.all] == [64])
    again = introduced(ours, 2)
    await until(lambda: [n.number for n in neighbours.all] == [64, 2])
    assert not neighbours.all[1].ready
    # Its next life is here before the end of this one was noticed.
    last = introduced(ours, 2)
    last.say(Ready())
    await until(lambda: len(neighbours.all) == 2 and neighbours.all[1].ready)
    assert again.end.recv(10) == b""
    for end in (ours, many.end, again.end, last.end):
        end.close()
    await neighbours.close()


async def test_without_a_supervisor_they_go_on() -> None:
    ours, theirs = line()
    neighbours = Neighbours(1, 2, FakeTime(), Metrics())
    neighbours.listen(theirs)
    two = introduced(ours, 2)
    # What comes with a number alone, since there was no file left, is nobody.
    ours.send(b"\x01")
    ours.close()
    two.say(Ready())
    await until(lambda: [n.ready for n in neighbours.all] == [True])
    await neighbours.close()
    assert neighbours.all == ()
    two.end.close()

"""What two workers say to each other arrives as it was said, or the line ends."""

import asyncio
import os
import socket

import pytest

from scopa_server.gateway.handover import Handover
from scopa_server.gateway.neighbour import (
    Go,
    Message,
    Neighbour,
    Offer,
    Ready,
    Refused,
    Stay,
    Taken,
)
from support.front import until
from support.next_door import line

HANDOVER = Handover(
    id=bytes(range(16)),
    subprotocol="scopa.v1.json",
    address="2001:db8::/64",
    invite_base="wss://table.example",
    received=b"\x81\x80\0\0\0\0" * 1000,
    idle=12.5,
    stays=700.0,
    flood=7,
    pace=1.5,
    control_pace=0.25,
    moves=30.0,
)
SAID: list[Message] = [Ready(), Offer(1, HANDOVER), Taken(1), Refused(2, "full"), Go(1), Stay(2)]


class Ear:
    """Hears what comes over one end of a line."""

    def __init__(self) -> None:
        self.heard: list[Message] = []
        self.files: list[socket.socket] = []
        self.gone = 0

    def hear(self, _: Neighbour, message: Message, file: socket.socket | None) -> None:
        """Take a message."""
        self.heard.append(message)
        if file is not None:
            self.files.append(file)

    def lose(self, _: Neighbour) -> None:
        """There is nobody any more."""
        self.gone += 1


def met(end: socket.socket) -> tuple[Neighbour, Ear]:
    """A neighbour at the other end, and what hears it."""
    ear = Ear()
    return Neighbour(2, end, ear.hear, ear.lose), ear


async def test_messages_arrive_as_they_were_said() -> None:
    ours, theirs = line()
    (one, _), (other, ear) = met(ours), met(theirs)
    for message in SAID:
        one.tell(message)
    await until(lambda: len(ear.heard) == len(SAID))
    assert ear.heard == SAID
    one.close()
    await until(lambda: ear.gone == 1)
    other.close()
    assert ear.gone == 1


def test_what_a_client_sent_is_not_shown() -> None:
    secret = Handover(
        id=bytes(range(16)),
        subprotocol=None,
        address="192.0.2.1",
        invite_base="",
        idle=1,
        stays=2,
        received=b"geheim",
    )
    for shown in (repr(secret), str(Offer(1, secret)), f"{[Offer(1, secret)]}"):
        assert "<Handover of 00010203>" in shown
        assert "geheim" not in shown
        assert "192.0.2.1" not in shown


async def test_an_offer_comes_with_its_file() -> None:
    ours, theirs = line()
    (one, _), (other, ear) = met(ours), met(theirs)
    near, far = socket.socketpair()
    with near, far:
        assert one.offer(far.fileno(), HANDOVER) == 1
        await until(lambda: len(ear.files) == 1)
        (file,) = ear.files
        assert not file.get_inheritable()
        far.close()
        near.send(b"through")
        assert file.recv(10) == b"through"
        file.close()
    one.close()
    other.close()


async def test_what_finds_no_room_is_said_later_and_in_order() -> None:
    ours, theirs = line()
    one, _ = met(ours)
    said = 0
    while not one.is_full:
        one.tell(Taken(said := said + 1))
    assert one.offer(theirs.fileno(), HANDOVER) is None
    assert not one.go(1)
    one.tell(Taken(said + 1))
    other, ear = met(theirs)
    await until(lambda: len(ear.heard) == said + 1)
    assert ear.heard == [Taken(number) for number in range(1, said + 2)]
    assert one.go(1)
    one.close()
    other.close()


async def test_what_is_too_long_is_not_offered() -> None:
    ours, theirs = line()
    one, _ = met(ours)
    long = Handover(
        id=bytes(16),
        subprotocol=None,
        address="",
        invite_base="",
        idle=1,
        stays=2,
        received=bytes(70_000),
    )
    assert one.offer(theirs.fileno(), long) is None
    assert one.offered == {}
    one.close()
    theirs.close()


async def test_nothing_is_said_to_nobody() -> None:
    ours, theirs = line()
    one, ear = met(ours)
    while not one.is_full:
        one.tell(Ready())
    theirs.close()
    await until(lambda: ear.gone == 1)
    assert not one.is_open
    assert one.offer(0, HANDOVER) is None
    one.tell(Ready())
    assert not one.is_full


@pytest.mark.parametrize("nonsense", [b"\xc1", b"\x93\x01\x02\x03", bytes(5000), b"{}"])
async def test_nonsense_ends_the_line(nonsense: bytes) -> None:
    ours, theirs = line()
    _, ear = met(ours)
    with theirs:
        near, far = socket.socketpair()
        with near:
            with far:
                socket.send_fds(theirs, [nonsense], [far.fileno()])
            await until(lambda: ear.gone == 1)
            # The file that came with it was closed.
            assert near.recv(1) == b""
    assert ear.heard == []


async def test_a_file_that_is_no_line_ends_the_line() -> None:
    ours, theirs = line()
    _, ear = met(ours)
    with theirs:
        reading, writing = os.pipe()
        socket.send_fds(theirs, [b"\x91\x00"], [reading])
        os.close(reading)
        await until(lambda: ear.gone == 1)
        with pytest.raises(BrokenPipeError):
            os.write(writing, b"x")
        os.close(writing)


async def test_who_says_much_leaves_others_their_turn() -> None:
    ours, theirs = line()
    one, _ = met(ours)
    for number in range(100):
        one.tell(Taken(number))
    other, ear = met(theirs)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(ear.heard) < 100
    await until(lambda: len(ear.heard) == 100)
    one.close()
    other.close()

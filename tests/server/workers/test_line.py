"""What a supervisor and a worker say to each other arrives whole, and so does silence."""

import asyncio
import socket
import threading

import pytest

from scopa_server.workers.line import Gone, Line, first, framed


async def pair() -> tuple[Line, Line]:
    """Both ends of a line."""
    one, other = socket.socketpair()
    return await Line.over(one), await Line.over(other)


async def test_messages_arrive_whole_and_in_order() -> None:
    one, other = await pair()
    messages = [b"", b"ready", bytes(300_000)]

    async def send() -> None:
        for message in messages:
            await one.send(message)

    sending = asyncio.create_task(send())
    assert [await other.receive() for _ in messages] == messages
    await sending
    one.close()
    other.close()


async def test_who_is_gone_is_noticed() -> None:
    one, other = await pair()
    one.close()
    with pytest.raises(Gone):
        await other.receive()
    with pytest.raises(Gone):
        await asyncio.wait_for(_send_for_ever(other), 10)
    other.close()


async def _send_for_ever(line: Line) -> None:
    while True:
        await line.send(bytes(65536))


def test_the_first_message_is_read_without_a_loop() -> None:
    one, other = socket.socketpair()
    with one, other:
        message = bytes(500_000)
        sender = threading.Thread(target=one.sendall, args=(framed(message) + b"more",))
        sender.start()
        assert first(other) == message
        sender.join()
        assert other.recv(10) == b"more"


@pytest.mark.parametrize("begun", [b"", b"\0\0", framed(b"settings")[:-1]])
def test_a_first_message_that_never_comes_is_noticed(begun: bytes) -> None:
    one, other = socket.socketpair()
    with other:
        with one:
            one.sendall(begun)
        with pytest.raises(Gone):
            first(other)

"""What is written of an outbox, and what is left in it."""

import pytest

from scopa_protocol.codec import JSON
from scopa_protocol.frames import Pong
from scopa_server.gateway.writer import Writer
from scopa_server.live.outbox import Outbox
from scopa_server.metrics import Metrics
from support.piped import joined


async def test_a_pipe_is_given_no_more_once_it_is_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    async with joined(compression=None) as (pipe, _):
        outbox = Outbox()
        for number in range(1, 6):
            outbox.reply(Pong(re=number))
        written = list[bytes]()

        def write(data: bytes) -> None:
            written.append(data)
            if len(written) == 2:
                pipe.pause_writing()

        monkeypatch.setattr(pipe.transport, "write", write)
        writer = Writer(pipe, JSON, outbox, 60, Metrics())
        writer.start(lambda _: None)
        pipe.flush()
        assert len(written) == 2
        monkeypatch.undo()
        assert outbox.take() == Pong(re=3)
        await writer.stop()
        pipe.resume_writing()

"""One request on a line, and nothing after it until it is answered."""

from typing import Any

from websockets.protocol import CLOSED

from .pipe import Pipe


class OneRequest(Pipe):
    """A connection that isn't answered if more comes with its request than a handshake has.

    The library reads that as frames, finds that they are none, ends its side, and then can't
    answer: it would log a fault of its own.
    """

    __slots__ = ("spoilt",)

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.spoilt = False

    def receive(self, data: bytes) -> None:
        """Take what has come."""
        super().receive(data)
        if self.response is None and self.request is not None and self.protocol.eof_sent:
            self.spoilt = True
            self.protocol.state = CLOSED

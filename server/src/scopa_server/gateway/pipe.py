"""A connection that takes messages, and hands over what comes, without being waited for.

What a game is made of, small whole frames, is read and written here, as RFC 6455 has it (5.2): the
library spends more on a frame than a room on a view. Everything else is the library's.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from websockets.asyncio.connection import broadcast
from websockets.asyncio.server import ServerConnection
from websockets.frames import Opcode
from websockets.protocol import OPEN

from .posting import Posting

try:
    from websockets.speedups import apply_mask
except ImportError:
    from websockets.utils import apply_mask

_FINAL: Final = 0x80
_MEDIUM: Final = 126
_LONG: Final = 1 << 16
_SHORT_HEAD: Final = struct.Struct("!BB").pack
_HEAD: Final = struct.Struct("!HH").pack
_WHOLE_TEXT: Final = _FINAL | Opcode.TEXT
_WHOLE_BINARY: Final = _FINAL | Opcode.BINARY
_WHOLE: Final = frozenset({_WHOLE_TEXT, _WHOLE_BINARY})
_MEDIUM_TEXT: Final = _WHOLE_TEXT << 8 | _MEDIUM
_MEDIUM_BINARY: Final = _WHOLE_BINARY << 8 | _MEDIUM
_END_OF_REQUEST: Final = b"\r\n\r\n"
_MASKED: Final = 0x80
_MASK: Final = 4
"""Bytes of a mask."""
_SHORT: Final = 2 + _MASK
"""Bytes before a short message."""
_AT_ONCE: Final = 4096
"""Bytes that the library parses in one go: they may be 682 frames. uvloop reads up to 256,000."""


class Pipe(ServerConnection):
    """A WebSocket connection to push messages down.

    `stuck` is called when it is `paused` since its client doesn't read, `freed` when it goes on.
    `take` is offered each message that came alone while nothing else was to be read, and returns
    whether it took it; if not, it is there for `recv`. `posting`: what is pushed goes down with it.
    """

    # What has more than thirty attributes in a `__dict__`, the library's own among them, gets one
    # of a kilobyte and a half; as slots they are also found sooner.
    __slots__ = ("_aligned", "_clear", "_plain", "_posting", "_state", "freed", "stuck", "take")

    def __init__(self, *args: Any, posting: Posting | None = None, **limits: Any) -> None:
        super().__init__(*args, **limits)
        self._posting = Posting() if posting is None else posting
        self.stuck: Callable[[], None] | None = None
        self.freed: Callable[[], None] | None = None
        self.take: Callable[[bytes, bool], bool] | None = None
        self._note()
        self._aligned = True
        """Whether what comes next begins a frame; once it doesn't, nobody looks any more."""
        self._clear = False
        """It does, and all that came before is read: so it stays until the library parses."""

    def data_received(self, data: bytes) -> None:
        """Take what has come: the library does, but for a message that is taken at once."""
        take = self.take
        if (
            take is not None
            and self._state is OPEN
            and (self._clear or self._is_clear())
            and (message := whole_message(data)) is not None
            and ((most := self.protocol.max_message_size) is None or len(message) <= most)
            and take(message, data[0] == _WHOLE_TEXT)
        ):
            return
        self._clear = False
        self.receive(data)

    def receive(self, data: bytes) -> None:
        """Let the library take what has come."""
        begins = self._aligned if self._state is OPEN else None
        self._parse(data)
        if begins is None:
            self._aligned = data.endswith(_END_OF_REQUEST)
        elif begins:
            # Who brings too much is looked at no more.
            self._aligned = self._state is OPEN and ends_whole(data)

    def _parse(self, data: bytes) -> None:
        for begin in range(0, len(data), _AT_ONCE):
            super().data_received(data[begin : begin + _AT_ONCE])
            self.parsed()
            self._note()
            if self.transport.is_closing():
                return

    def parsed(self) -> None:
        """Look at what has come, before more is parsed."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go, and leave nothing for the garbage collector.

        When thousands of lines end at once, it would hold up everybody else for long.
        """
        super().connection_lost(exc)
        protocol = self.protocol
        # What of the library leads back to itself: it has nothing to read or choose any more.
        protocol.parser.close()
        vars(protocol).pop("select_subprotocol", None)
        for fault in (protocol.parser_exc, protocol.handshake_exc, self.connection_exc):
            if fault is not None:
                fault.__traceback__ = None

    def _is_clear(self) -> bool:
        """Look whether what comes may be taken: nothing came before that isn't read yet."""
        self._clear = (
            self._aligned
            and self._plain
            and self.protocol.current_size is None
            and not len(self.recv_messages.frames)
        )
        return self._clear

    def pause_writing(self) -> None:
        """What was written waits, and is a lot."""
        super().pause_writing()
        if self.stuck is not None:
            self.stuck()

    def resume_writing(self) -> None:
        """Most of what was written is on its way."""
        super().resume_writing()
        if self.freed is not None:
            self.freed()

    def push(self, message: bytes, text: bool, end: bytes = b"") -> int | None:
        """Write a message, whole and soon. Gives its bytes; None if the pipe is closing.

        `end`: what still belongs to it. The library's public way to do so is `broadcast`.
        """
        transport, size = self.transport, len(message) + len(end)
        if not self._plain or size >= _LONG or self.send_in_progress or transport.is_closing():
            return self._broadcast(message + end, text)
        if size < _MEDIUM:
            head = _SHORT_HEAD(_WHOLE_TEXT if text else _WHOLE_BINARY, size)
        else:
            head = _HEAD(_MEDIUM_TEXT if text else _MEDIUM_BINARY, size)
        self._posting.put(transport, b"".join((head, message, end)))
        return size

    def _broadcast(self, message: bytes, text: bool) -> int | None:
        if self._state is not OPEN or self.transport.is_closing():
            return None
        broadcast([self], message, text=text)
        return len(message)

    def flush(self) -> None:
        """Write what was pushed, now."""
        self._posting.flush()

    def send_data(self) -> None:
        """Write what the library has to say, after what was pushed before."""
        self._posting.flush()
        super().send_data()
        self._note()

    def _note(self) -> None:
        """Keep what the library says of the line: later looks at it would cost a call each."""
        protocol = self.protocol
        self._state = protocol.state
        self._plain = self._state is OPEN and not (protocol.extensions or protocol.debug)


def whole_message(data: bytes) -> bytes | None:
    """The message that these bytes are one plain frame of; None if they are anything else."""
    if len(data) < 2 or data[0] not in _WHOLE:
        return None
    size = len(data) - _SHORT
    if 0 <= size < _MEDIUM and data[1] == _MASKED + size:
        return apply_mask(data[_SHORT:], data[_SHORT - _MASK : _SHORT])
    head, end = _extent(data, 0)
    if end != len(data):
        return None
    return apply_mask(data[head:], data[head - _MASK : head])


def ends_whole(data: bytes) -> bool:
    """Whether bytes that begin with a frame end with one; false where that is hard to say."""
    begin = 0
    while len(data) - begin >= 2:
        _, begin = _extent(data, begin)
        if not begin:
            return False
    return len(data) == begin


def _extent(data: bytes, begin: int) -> tuple[int, int]:
    """Where the message of a frame that begins there begins and ends.

    0, 0 for what isn't a client's, isn't all here, or is long.
    """
    head, size = begin + 2 + _MASK, data[begin + 1] - _MASKED
    if size == _MEDIUM:
        head, size = head + 2, int.from_bytes(data[begin + 2 : begin + 4], "big")
    if not 0 <= size < _LONG or len(data) < head + size or data[begin + 1] - _MASKED > _MEDIUM:
        return 0, 0
    return head, head + size

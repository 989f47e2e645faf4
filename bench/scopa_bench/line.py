"""One connection of the load, on picows: whole frames in, whole frames out."""

from collections.abc import Callable
from typing import Final

from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

DATA: Final = frozenset({WSMsgType.TEXT, WSMsgType.BINARY})
PATIENCE: Final = 60.0
"""Seconds that anything may take before it counts as a fault."""


class Broken(Exception):
    """What is measured doesn't do what it must, so nothing is measured."""


class Line(WSListener):
    """A connection. `heard` is given each frame's payload, valid during the call alone."""

    def __init__(
        self, heard: Callable[[memoryview], None], fault: Callable[[BaseException], None]
    ) -> None:
        self._heard = heard
        self._fault = fault
        self._transport: WSTransport | None = None
        self._closing = False

    async def connect(self, url: str, subprotocol: str | None = None) -> None:
        """Connect; frames may be heard before this returns."""
        headers = {"Sec-WebSocket-Protocol": subprotocol} if subprotocol else None
        await ws_connect(
            lambda: self, url, extra_headers=headers, websocket_handshake_timeout=PATIENCE
        )

    def on_ws_connected(self, transport: WSTransport) -> None:
        """The handshake is over."""
        self._transport = transport

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """Hand a frame's payload on; what goes wrong there is told, not logged."""
        if frame.msg_type in DATA:
            try:
                self._heard(frame.get_payload_as_memoryview())
            except Exception as error:
                self._fault(error)

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        """Tell of an end that nobody here wanted."""
        if not self._closing:
            self._fault(Broken("a connection was closed"))

    def send(self, kind: WSMsgType, data: bytes) -> None:
        """Send one frame."""
        assert self._transport is not None
        self._transport.send(kind, data)

    async def close(self) -> None:
        """Close, and wait until it is."""
        self._closing = True
        if self._transport is not None:
            self._transport.send_close()
            self._transport.disconnect()
            await self._transport.wait_disconnected()

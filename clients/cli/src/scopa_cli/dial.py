"""Opening a WebSocket to a server."""

import ipaddress
import ssl
from collections.abc import Awaitable, Callable
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus, InvalidURI
from websockets.typing import Subprotocol

from . import VERSION
from .closing import Ending, status_refused, unreachable

Dial: TypeAlias = Callable[[str], Awaitable[ClientConnection]]

LARGEST_FRAME: Final = 8 * 1024 * 1024
FAULTS: Final = (OSError, TimeoutError, InvalidHandshake, InvalidURI, EOFError)


async def dial(endpoint: str) -> ClientConnection:
    """A connection to an endpoint. Raises one of `FAULTS`."""
    return await connect(
        endpoint,
        subprotocols=[Subprotocol("scopa.v1.json")],
        proxy=proxy_for(endpoint),
        compression=None,
        max_size=LARGEST_FRAME,
        close_timeout=1,
        user_agent_header=f"scopa-cli/{VERSION}",
    )


def proxy_for(endpoint: str) -> Literal[True] | None:
    """No proxy for this machine's own addresses; otherwise what the environment says."""
    return None if is_own(endpoint) else True


def is_own(address: str) -> bool:
    """Whether an address means this machine, wherever it is read."""
    host = urlsplit(address).hostname or ""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return found.is_loopback or found.is_unspecified


def fault_ending(endpoint: str, fault: Exception) -> Ending:
    """What a failed dial means."""
    if isinstance(fault, InvalidStatus):
        return status_refused(fault.response.status_code)
    if isinstance(fault, ssl.SSLCertVerificationError):
        why = (
            f"The certificate of {endpoint} can't be trusted: {fault.verify_message}. If its host "
            "gave you one of their own, name the file in SSL_CERT_FILE."
        )
        return Ending(why=why, code=1)
    if isinstance(fault, ssl.SSLError):
        why = f"{endpoint} doesn't speak TLS: its address may begin with ws:// instead."
        return Ending(why=why, code=1)
    if isinstance(fault, InvalidMessage):
        why = f"No connection to {endpoint}: it hung up; check whether it is ws:// or wss://."
        return Ending(why=why, retry=True, code=1)
    if isinstance(fault, InvalidURI):
        return Ending(why=f"{endpoint} is no address of a server.", code=1)
    return unreachable(endpoint, fault)

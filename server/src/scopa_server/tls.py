"""The certificate that the server shows: read at the start, and again when it is told to."""

import ssl
from pathlib import Path

import structlog

from scopa_server.startup import CannotStart

_log = structlog.stdlib.get_logger()


class Certificate:
    """A certificate with its key. `context` shows it to whoever connects."""

    def __init__(self, cert: Path, key: Path) -> None:
        """Read both; raises CannotStart."""
        self._cert = cert
        self._key = key
        self.context = _context()
        try:
            self._load(self.context)
        except OSError:
            raise CannotStart(
                "--tls-cert and --tls-key must name a certificate and the key that belongs to it, "
                "without a passphrase"
            ) from None

    def reload(self) -> None:
        """Read both anew, for new connections; what can't be used changes nothing but the log."""
        try:
            # Half of a pair that doesn't fit would be taken before that is found out.
            self._load(_context())
            self._load(self.context)
        except OSError as fault:
            _log.error("certificate_not_reloaded", error=type(fault).__name__)
        else:
            _log.info("certificate_reloaded")

    def _load(self, context: ssl.SSLContext) -> None:
        # Without a password the library would ask for one on the terminal, and wait.
        context.load_cert_chain(self._cert, self._key, password=lambda: "")


def _context() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    return context

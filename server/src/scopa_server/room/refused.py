"""Why a command changes nothing."""

from typing import Any

from scopa_protocol.codes import ErrorCode


class Refused(Exception):
    """A command that can't be followed: the wire's code, words for a person, details."""

    def __init__(
        self, code: ErrorCode, message: str, details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(code.value)
        self.code = code
        self.message = message
        self.details = details

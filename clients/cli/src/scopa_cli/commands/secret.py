"""Secrets on a command line: the list of processes shows them, so there are other ways to give
them.
"""

import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import Final

from .parser import ASK

SECRETS: Final[Mapping[str, str]] = {"passcode": "SCOPA_PASSCODE", "key": "SCOPA_KEY"}
"""Options that hold one, and the environment's names for them."""


class Unclear(Exception):
    """The command line can't be done as it stands; the text says what to do."""


def ask_secrets(options: Namespace, environment: Mapping[str, str]) -> None:
    """Ask for secrets that were announced and not given; take others from the environment.

    Raises Unclear without a terminal.
    """
    for option, variable in SECRETS.items():
        if not hasattr(options, option):
            continue
        given: str | None = getattr(options, option)
        if given == ASK:
            given = _asked(option, variable)
        setattr(options, option, given or environment.get(variable) or None)


def _asked(option: str, variable: str) -> str:
    if not sys.stdin.isatty():
        raise Unclear(f"Give the {option} in {variable}, or as --{option}=WORD.")
    from getpass import getpass

    return getpass(f"{option.capitalize()}: ").strip()

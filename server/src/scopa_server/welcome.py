"""What the server says once it is up: how to open a table, and how others come in."""

import ipaddress
import shutil
import socket
import sys
from pathlib import Path
from typing import Final

ELSEWHERE: Final = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses for examples. Nothing is sent there; they only choose a way out."""


def welcome(address: str, table: str) -> str:
    """The server's address, and what a person types who wants to open a table at `table`."""
    client = _client()
    return (
        f"Scopa server on {address}\n"
        f"  open a table:  {client} host --server {table}\n"
        f"  join one:      {client} join INVITE   (the host's client prints the invite)\n"
        "Ctrl-C stops the server; tables are kept.\n"
    )


def own_address(host: str) -> str:
    """The host as others reach it: of every network, the one that this machine's traffic takes."""
    if not _is_every_network(host):
        return host
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((ELSEWHERE[family], 9))
            return str(probe.getsockname()[0])
    except OSError:
        return host


def _is_every_network(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _client() -> str:
    """The client as it can be called from here: beside this program, unless it is on the path."""
    beside = Path(sys.executable).with_name("scopa")
    if shutil.which("scopa") or not beside.exists():
        return "scopa"
    here = Path.cwd()
    return str(beside.relative_to(here) if beside.is_relative_to(here) else beside)

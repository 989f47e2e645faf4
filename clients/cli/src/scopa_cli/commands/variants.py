"""`scopa variants`: what can be played, explained; with a server, what it plays of that."""

import asyncio
import json
import os
from argparse import Namespace
from shutil import get_terminal_size
from typing import Any

import msgspec

from scopa_cli.lines import Line, line
from scopa_cli.output import error_writer, standard_writer
from scopa_cli.places import server_address
from scopa_cli.screens import house
from scopa_protocol.explained import RULES, VARIANTS
from scopa_protocol.invite import endpoint
from scopa_protocol.presets import PRESETS

from .screen import USAGE

WIDEST = 100


def variants(options: Namespace) -> int:
    """Print every variant, one of them in full, or every rule."""
    if options.name is not None and options.name not in PRESETS:
        known = ", ".join(PRESETS)
        error_writer().lines([line(f"{options.name} isn't known here. Known are: {known}.")])
        return USAGE
    playable: list[str] | None = None
    if not options.offline:
        try:
            address = endpoint(server_address(options.server, os.environ))
        except ValueError as wrong:
            error_writer().lines([line(f"{wrong}")])
            return USAGE
        playable = _asked(address)
    writer = standard_writer(ascii_only=options.ascii)
    if options.json:
        writer.control(f"{json.dumps(_data(options.name, playable))}\n")
    else:
        writer.lines(_shown(options, playable, min(get_terminal_size().columns, WIDEST)))
    return 0


def _asked(address: str) -> list[str] | None:
    """What a server plays; without one, a sentence says so."""
    from scopa_cli.call import Failed

    try:
        return asyncio.run(ask(address))
    except Failed as failed:
        text = f"{failed} What follows is what this client knows, without a server."
        error_writer().lines([line(text)])
        return None


async def ask(address: str) -> list[str]:
    """The variants that a server plays. Raises Failed."""
    from scopa_cli.call import call

    async with call(address) as server:
        return server.hello.variants


def _shown(options: Namespace, playable: list[str] | None, columns: int) -> list[Line]:
    if options.rules:
        return house.every_rule(options.name, columns)
    if options.name is None:
        return house.variants(playable, columns)
    missing = playable is not None and options.name not in playable
    mark = [line("This server doesn't play it.")] if missing else []
    return [*house.variant(options.name, columns), *mark]


def _data(name: str | None, playable: list[str] | None) -> dict[str, Any]:
    """Everything that the other forms say; `server`: null where none answered."""
    told = [
        msgspec.to_builtins(variant) | msgspec.to_builtins(PRESETS[variant.name])
        for variant in VARIANTS
        if name in (None, variant.name)
    ]
    return {"variants": told, "rules": msgspec.to_builtins(RULES), "server": playable}
